"""Bilingual terms of a text: the phrases of both sides that its links say translate each other, best terms first.

A phrase pair is as in phrase extraction [KOM03]: contiguous words, no link from inside to outside, linked words at the
edges. How much of a term it is: by C-value [FA00], how often it stands by itself; times the excess of its burstiness,
residual IDF [CG95], as a term stands where a text is about it; times how surely each side translates the other.

[KOM03] Koehn, Och and Marcu 2003.  [FA00] Frantzi, Ananiadou and Mima 2000.  [CG95] Church and Gale 1995.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from os.path import commonprefix
from typing import NamedTuple

from corpora.links import Link

Pair = tuple[Sequence[str], Sequence[str], Collection[Link]]  # words of both sides, and links
Phrase = tuple[str, ...]
Span = tuple[int, int, int, int]  # first word and end, of the source and of the target

LONGEST, LEAST = 4, 3
"""Words of a phrase, and occurrences, by default."""

EXAMPLES = 5
"""Occurrences of a term that are kept."""

_ALWAYS, _OFTEN, _SHORT_AND_OFTEN, _BITS, _SHORT = 20, 1 / 3000, 1 / 1000, 1.8, 3
"""Function words are the so many most frequent ones; frequent ones whose translations have so many bits of entropy;
and frequent ones of so few letters.
"""

_BLOCK = 25  # lines of a text that are about the same
_EVEN = 0.3  # weight of a term that is spread evenly
_JOINERS = {"-", "\u2010", "\u2013", "'", "\u2019"}  # may stand inside a term
_ENDING, _STEM = 3, 3  # letters that an inflection may add at the end, and that no other word begins with
_FEW = 16  # phrases that begin alike and are compared each with each
_SURE = 5  # letters of a word that with another ending is surely the same
_VOWELS = {*"aeiouyàâèéêîïôûùäöü"}  # which may change before them


class Term(NamedTuple):
    """A phrase and its translation, in the spelling that is most frequent.

    occurrences: of the pair.  forms: other inflections and spellings, as (source, target), the most frequent first.
    given_source, given_target: the probability of this translation of the source, and of the target, in this form.
    places: its first occurrences, as the number of a pair, from 1 on, and a span.
    """

    source: str
    target: str
    occurrences: int
    given_source: float
    given_target: float
    score: float
    forms: tuple[tuple[str, str], ...]
    places: tuple[tuple[int, Span], ...]


def spans(words: tuple[int, int], links: Collection[Link], longest: int) -> Iterator[Span]:
    """Yield the spans that are consistent with the links, with linked words at their edges, and at most so many words.

    words: the numbers of source and target words.
    """
    of_source: list[list[int]] = [[] for _ in range(words[0])]
    of_target: list[list[int]] = [[] for _ in range(words[1])]
    for j, k in links:
        of_source[j].append(k)
        of_target[k].append(j)
    for first in range(words[0]):
        low, high = words[1], -1
        for last in range(first, min(first + longest, words[0])):
            found = of_source[last]
            if not found or (last > first and not of_source[first]):
                continue
            low, high = min(low, *found), max(high, *found)
            if high - low >= longest:
                break
            back = [j for side in of_target[low : high + 1] for j in side]
            if min(back) >= first and max(back) <= last:
                yield first, last + 1, low, high + 1


def function_words(pairs: Iterable[Pair]) -> tuple[set[str], set[str]]:
    """The words of each side, case folded, that no term begins or ends with."""
    counts, linked = (Counter[str](), Counter[str]()), Counter[tuple[str, str]]()
    for source, target, links in pairs:
        words = [*map(str.casefold, source)], [*map(str.casefold, target)]
        for own, count in zip(words, counts, strict=True):
            count.update(own)
        linked.update((words[0][j], words[1][k]) for j, k in links)
    found: list[set[str]] = []
    for side, count in enumerate(counts):
        whole, entropies = count.total(), _entropies(linked, side)
        found.append({word for word, _ in count.most_common(_ALWAYS)})
        for word, number in count.items():
            short = len(word) <= _SHORT and word != word.upper()  # of a script with cases
            vague = number >= whole * _OFTEN and entropies.get(word, math.inf) >= _BITS
            if vague or (short and number >= whole * _SHORT_AND_OFTEN):
                found[side].add(word)
    return found[0], found[1]


def _entropies(linked: Counter[tuple[str, str]], side: int) -> dict[str, float]:
    """The entropy, in bits, of each word's translations."""
    totals, sums = Counter[str](), defaultdict[str, float](float)
    for words, count in linked.items():
        totals[words[side]] += count
        sums[words[side]] += count * math.log2(count)
    return {word: math.log2(total) - sums[word] / total for word, total in totals.items()}


@dataclass(eq=False)
class _Found:
    """What is counted of a phrase pair.  blocks: of _BLOCK lines each, in which it is; latest: the last of them."""

    count: int = 0
    blocks: int = 0
    latest: int = -1
    spellings: Counter[tuple[str, str]] = field(default_factory=Counter)
    places: list[tuple[int, Span]] = field(default_factory=list)

    def add(self, other: "_Found") -> None:
        self.count += other.count
        self.blocks += other.blocks
        self.spellings.update(other.spellings)
        self.places = sorted([*self.places, *other.places])[:EXAMPLES]


def find_terms(
    pairs: Callable[[], Iterable[Pair]], *, least: int = LEAST, longest: int = LONGEST, stop: Collection[str] = ()
) -> list[Term]:
    """Find the terms of a text that stand in it at least so often, from the best one on.

    pairs: called twice, for all pairs.  longest: words of a phrase.  stop: further words, case folded, that no term
    begins or ends with.
    """
    edges = [{*words, *stop} for words in function_words(pairs())]
    found, lines = defaultdict[tuple[Phrase, Phrase], _Found](_Found), 0
    for lines, (source, target, links) in enumerate(pairs(), 1):
        texts = [*map(str.casefold, source)], [*map(str.casefold, target)]
        first, last, barred = zip(*(map(_places, texts, edges)), strict=True)
        for span in spans((len(source), len(target)), links, longest):
            a, b, c, d = span
            if not (first[0][a] and first[1][c] and last[0][b - 1] and last[1][d - 1]):
                continue
            if any(barred[0][a:b]) or any(barred[1][c:d]):
                continue
            one = found[(*texts[0][a:b],), (*texts[1][c:d],)]
            one.count += 1
            one.blocks += one.latest != lines // _BLOCK
            one.latest = lines // _BLOCK
            one.spellings[" ".join(source[a:b]), " ".join(target[c:d])] += 1
            if len(one.places) < EXAMPLES:
                one.places.append((lines, span))
    return _ranked(found, least, lines / _BLOCK)


def _places(words: Sequence[str], stop: Collection[str]) -> tuple[list[bool], list[bool], list[bool]]:
    """At which words a term can begin, and end, and which it cannot contain."""
    letters = [any(map(str.isalpha, word)) and word not in stop for word in words]
    ends = [found or word.isdecimal() for word, found in zip(words, letters, strict=True)]
    barred = [not any(map(str.isalnum, word)) and word not in _JOINERS for word in words]
    return letters, ends, barred


def _ranked(found: dict[tuple[Phrase, Phrase], _Found], least: int, blocks: float) -> list[Term]:
    totals = Counter[Phrase](), Counter[Phrase]()
    for phrases, one in found.items():
        for phrase, total in zip(phrases, totals, strict=True):
            total[phrase] += one.count
    kept = dict[tuple[Phrase, Phrase], _Found]()
    for members in _inflections(found):
        whole = _Found()
        for phrases in members:
            whole.add(found[phrases])
        if whole.count >= least:
            kept[members[0]] = whole
    longer = _containers(kept)
    terms = []
    for phrases, whole in kept.items():
        given = [found[phrases].count / total[phrase] for phrase, total in zip(phrases, totals, strict=True)]
        alone = whole.count - (sum(longer[phrases]) / len(longer[phrases]) if phrases in longer else 0.0)
        even = blocks * -math.expm1(-whole.count / blocks)  # blocks that it would be in, by chance
        bursts = max(math.log2(even / whole.blocks), 0.0)
        score = math.log2(len(phrases[0]) + 0.5) * alone * (_EVEN + bursts) * math.sqrt(given[0] * given[1])
        spelt = dict[tuple[str, ...], tuple[str, str]]()
        for spelling, _ in whole.spellings.most_common():
            spelt.setdefault((*map(str.casefold, spelling),), spelling)
        (source, target), *forms = spelt.values()
        terms.append(Term(source, target, whole.count, given[0], given[1], score, (*forms,), (*whole.places,)))
    return sorted(terms, key=lambda term: (-term.score, term.source, term.target))


def _inflections(found: dict[tuple[Phrase, Phrase], _Found]) -> Iterator[list[tuple[Phrase, Phrase]]]:
    """Gather phrase pairs whose words, on both sides, differ in their endings alone; the most frequent comes first."""
    buckets = defaultdict[Phrase, list[tuple[Phrase, Phrase]]](list)
    for phrases in found:
        begins = [[word[:_STEM] for word in phrase] for phrase in phrases]
        buckets[(*begins[0], "", *begins[1])].append(phrases)
    for bucket in buckets.values():
        groups: list[list[tuple[Phrase, Phrase]]] = []
        indices = [_Index() for phrase in bucket[0] for _ in phrase] if len(bucket) > _FEW else []  # of each word
        for phrases in sorted(bucket, key=lambda phrases: (-found[phrases].count, phrases)):
            words = [*phrases[0], *phrases[1]]
            near = [index.near(word) for index, word in zip(indices, words, strict=False)]
            numbers = (
                sorted({*chain(*min(near, key=lambda lists: sum(map(len, lists))))}) if near else range(len(groups))
            )
            akin = (groups[number] for number in numbers if all(map(_akin, groups[number][0], phrases)))
            group = next(akin, None)
            if group is not None:
                group.append(phrases)
                continue
            for index, word in zip(indices, words, strict=False):
                index.add(word, len(groups))
            groups.append([phrases])
        yield from groups


class _Index:
    """Numbers of words, to be found by words that are akin."""

    def __init__(self) -> None:
        self._whole, self._begun = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)

    def add(self, word: str, number: int) -> None:
        for whole in _wholes(word):
            self._whole[whole].append(number)
        for begin in _beginnings(word):
            self._begun[begin].append(number)

    def near(self, word: str) -> list[list[int]]:
        """Lists of numbers, among which are those of all words that are akin: the shorter one begins the longer one."""
        found = [self._whole.get(begin) for begin in _beginnings(word)]
        return [*filter(None, [*found, *map(self._begun.get, _wholes(word))])]


def _wholes(word: str) -> Sequence[str]:
    return (word, word[:-1]) if word[-1] in _VOWELS else (word,)


def _beginnings(word: str) -> Sequence[str]:
    return [word[:end] for end in range(max(_STEM, len(word) - _ENDING), len(word))] + [word]


def _akin(one: Phrase, other: Phrase) -> bool:
    """Whether each word of a phrase is the other's with another ending: houses of house, authorities of authority."""
    for word, of_other in zip(one, other, strict=True):
        short, long = sorted((word, of_other), key=len)
        stem = len(commonprefix([short, long]))
        whole = stem == len(short) or (stem == len(short) - 1 and short[-1] in _VOWELS)
        ending = min(_ENDING, len(short) // 2)
        if word != of_other and not (whole and stem >= max(_STEM, len(long) - ending)):
            return False
    return True


class Deviation(NamedTuple):
    """Where a text does not translate a term as a glossary does.

    number: of the pair, from 1 on.  term: as the text has it.  expected: the glossary's translations.  found: the words
    that the term is linked with.
    """

    number: int
    term: str
    expected: tuple[str, ...]
    found: str
    source: str
    target: str


def deviations(pairs: Iterable[Pair], glossary: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Deviation]:
    """Yield each occurrence of a term whose pair has none of its translations, in whatever inflection.

    glossary: the words of terms and of their translations.  A term within a longer one that is there is not looked at.
    What may be another word than the term, being short, as "they" beside "the", counts only if the text translates it
    as the term at least every other time.
    """
    translations = defaultdict[Phrase, dict[Phrase, str]](dict)
    for term, translation in glossary:
        translations[(*map(str.casefold, term),)][(*map(str.casefold, translation),)] = " ".join(translation)
    index, longest_first = _Index(), sorted(translations, key=len, reverse=True)
    for number, one in enumerate(longest_first):
        index.add(one[0], number)
    found, kept = list[tuple[tuple[Phrase, Phrase], bool, Deviation]](), defaultdict[tuple[Phrase, Phrase], int](int)
    for number, (source, target, links) in enumerate(pairs, 1):
        words, others, end = [*map(str.casefold, source)], [*map(str.casefold, target)], 0
        for start, word in enumerate(words):
            near = sorted({*chain(*index.near(word))}) if start >= end else []
            phrase = next((one for one in map(longest_first.__getitem__, near) if _stands(one, words, start)), ())
            if not phrase:
                continue
            end, expected = start + len(phrase), translations[phrase]
            form = (*words[start:end],)
            right = any(_stands(one, others, place) for one in expected for place in range(len(others)))
            kept[phrase, form] += 1 if right else -1
            if not right:
                linked = sorted({k for j, k in links if start <= j < end})
                there, term = " ".join(target[k] for k in linked), " ".join(source[start:end])
                sides = " ".join(source), " ".join(target)
                sure = all(a == b or min(len(a), len(b)) >= _SURE for a, b in zip(phrase, form, strict=True))
                found.append(((phrase, form), sure, Deviation(number, term, (*expected.values(),), there, *sides)))
    yield from (deviation for forms, sure, deviation in found if sure or kept[forms] >= 0)


def _stands(phrase: Phrase, words: Sequence[str], start: int) -> bool:
    there = (*words[start : start + len(phrase)],)
    return len(there) == len(phrase) and _akin(phrase, there)


def _containers(kept: dict[tuple[Phrase, Phrase], _Found]) -> dict[tuple[Phrase, Phrase], list[int]]:
    """The counts of the kept pairs that contain each pair."""
    longer = defaultdict[tuple[Phrase, Phrase], list[int]](list)
    for phrases, whole in kept.items():
        parts = [{phrase[a:b] for a, b in combinations(range(len(phrase) + 1), 2)} for phrase in phrases]
        for one in parts[0]:
            for other in parts[1]:
                if (one, other) in kept and (one, other) != phrases:
                    longer[one, other].append(whole.count)
    return longer
