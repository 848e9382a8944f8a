"""What the words of tags have become in translations that have the tags, too."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from corpora.inline.kinds import Marked

Phrase = tuple[str, ...]
Examples = Mapping[Phrase, Mapping[Phrase, int]]
"""How often words of tags were words of the same tags in translations; in lower case."""


def collect_examples(segments: Iterable[tuple[Marked, Marked]]) -> Examples:
    """Collect the words of tags that texts and their translations both have, once."""
    found = defaultdict[Phrase, Counter[Phrase]](Counter)
    for sides in segments:
        if sides[0].tags and sides[1].tags:
            ours, theirs = (_words_of_tags(side) for side in sides)
            for key, [words, *others] in ours.items():
                same = theirs.get(key, [])
                if words and not others and len(same) == 1 and same[0]:
                    found[words][same[0]] += 1
    return found


def _words_of_tags(marked: Marked) -> Mapping[str, list[Phrase]]:
    words, starts = lower(marked), [start for start, _ in marked.tokens]
    found = defaultdict[str, list[Phrase]](list)
    for tag in marked.tags:
        if tag.is_pair:
            found[tag.key].append(words[bisect_left(starts, tag.start) : bisect_left(starts, tag.end)])
    return found


def lower(marked: Marked) -> Phrase:
    """The tokens of a text in lower case."""
    return tuple(map(str.lower, marked.words))
