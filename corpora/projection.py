"""Carry the labels of a text across links to its translation  [Yarowsky, Ngai and Wicentowski 2001].

[HRWCK05] Hwa, Resnik, Weinberg, Cabezas and Kolak 2005, Bootstrapping parsers via syntactic projection.
"""

import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee, zip_longest
from typing import NamedTuple, TypeVar

from corpora.errors import CorpusError, counted, quoted, utf8
from corpora.files import StrPath, read_lines
from corpora.formats.conll import DEPREL, FEATS, HEAD, UPOS, Sentence
from corpora.formats.spans import Labelled, Mark, place_of, words_of
from corpora.labelled import kind_of_labels, read_labelled
from corpora.link_files import open_links
from corpora.links import Link, PairLinks
from corpora.paths import is_stream
from corpora.readers import is_table, open_corpus
from corpora.reading import AS_IT_IS, Reading
from corpora.same_text import places_of

Label = TypeVar("Label")

_ONE_EACH = "text n with labels, line n and links n must be one pair; a CoNLL file has no text for an empty line"

_ALIGN_WORDS = "align its words, which aligner convert writes; links of words are always taken in jsonl, which has them"

_ANY = sys.maxsize  # words of a side whose number is not checked

_TOGETHER = "do the files belong together?"


class _Pair(NamedTuple):
    source: Labelled
    target: Labelled
    links: PairLinks
    length: int  # of the source, as far as it is linked, or as the file of links has it


def project_labels(labels: StrPath, target: StrPath, links: StrPath, reading: Reading = AS_IT_IS) -> Iterator[Labelled]:
    """`project` each text of a file with labels to the line of a target text, by a file of links in any format.

    reading: of the target text, where it is a whole corpus, such as a table.
    Links of CoNLL-U and of spaCy's files count the words, or the tokens of the text: that is told by the words that a
    file of links has, else by all links, and a warning says where it is tokens. Links that are only possible carry
    nothing where a pair has sure ones.
    Raises CorpusError where one of the files ends sooner, on what is broken, and where links seem to count neither.
    """
    kind, of_tokens = kind_of_labels(labels).name, False
    pairs: Iterable[_Pair] = _pairs(labels, target, links, reading, kind)
    if kind in ("conll", "spacy"):
        if any(map(is_stream, (labels, target, links))):
            pairs = list(pairs)
            of_tokens = _count_tokens(pairs, labels)
        else:
            of_tokens = _count_tokens(pairs, labels)
            pairs = _pairs(labels, target, links, reading, kind)
    is_told = False
    for number, (source, line, pair, _) in enumerate(pairs, 1):
        if source.sentence is not None and source.sentence.is_conllu:
            _check_tree(source.sentence, labels)
        found = source.by_tokens if of_tokens else source
        if pair.words is not None:
            try:
                found, line = map(_in_words, (source, line), pair.words)
            except ValueError as error:
                raise CorpusError(links, number, f"has links of other words: {error}", hint=_TOGETHER) from error
        if source.sentence is not None and len(found.words) < len(source.words) and not is_told:
            is_told = True
            warnings.warn(f"{links}: the links count the tokens of {labels}, not its words", stacklevel=2)
        probabilities = {link: pair.scores.get(link, 1.0) for link in pair.sure or pair.possible}
        yield project(found, line, probabilities)


def _in_words(one: Labelled, words: list[str]) -> Labelled:
    """A text whose words are these.  ValueError where they are of another text, or its own words have labels."""
    for own in (one, one.by_tokens):
        if own.tokens == words:
            return own
    places = places_of(one.text, words)
    if one.sentence is not None:
        raise ValueError(f"{len(words)} in place of {len(one.words)}")
    return replace(one, words=places)


def _count_tokens(pairs: Iterable[_Pair], labels: StrPath) -> bool:
    """Whether links count the tokens of the text, not its words: they end there in most sentences, and never go beyond.

    Raises CorpusError where that is so of the comments with the text, divided at spaces, alone.
    """
    beyond = defaultdict[str, list[int]](list)  # by what is counted: how far the links of each sentence go beyond
    first: Sentence | None = None
    for source, _, pair, used in pairs:
        sentence = source.sentence
        if sentence is None or pair.words is not None or not used:
            continue
        for name, count in (("tokens", len(sentence.tokens)), ("text", sentence.text_tokens or 0)):
            if 0 < count < len(sentence.rows):
                beyond[name].append(used - count)
        first = first or (sentence if used == sentence.text_tokens and used < len(sentence.rows) else None)
    found = [name for name, own in beyond.items() if max(own) <= 0 and 2 * own.count(0) > len(own)]
    if found == ["text"] and first is not None:
        what = f"has {len(first.rows)} words, but its links are of {first.text_tokens} tokens, as its text has"
        raise CorpusError(labels, first.line, what, hint=_ALIGN_WORDS)
    return "tokens" in found


def _check_tree(sentence: Sentence, path: StrPath) -> None:
    """Raise CorpusError for the first word whose head is no word of the sentence, and for a circle of heads."""
    heads = list[int]()
    for word, row in enumerate(sentence.rows, 1):
        head = 0 if row[HEAD] == "_" else _number(row[HEAD])
        if head is None or head > len(sentence.rows):
            what = f"word {word} of {len(sentence.rows)} has the head {quoted(row[HEAD].encode())}"
            raise CorpusError(path, sentence.line, what, hint="a head is the number of a word, 0 or _")
        heads.append(head)
    ends = {0}  # of which it is known that they are in no circle
    for word in range(1, len(heads) + 1):
        way = dict[int, None]()
        while word not in ends and word not in way:
            way[word] = None
            word = heads[word - 1]
        if word in way:
            what = f"word {word} is above its own head, {heads[word - 1]}"
            raise CorpusError(path, sentence.line, what, hint="heads make a tree")
        ends.update(way)


def _number(cell: str) -> int | None:
    return int(cell) if cell.isdecimal() and len(cell) < 10 else None


def _pairs(labels: StrPath, target: StrPath, links: StrPath, reading: Reading, kind: str) -> Iterator[_Pair]:
    texts, ahead = tee(_texts(labels, target, reading, kind))
    lengths = ((len(source.words), len(line.words)) for source, line in ahead)
    opened = open_links(links, lengths=lengths, own_words=True)  # which may be other tokens
    for (source, line), pair in zip(texts, opened, strict=True):
        linked = 1 + max((j for j, _ in pair.sure | pair.possible), default=-1)
        yield _Pair(source, line, pair, linked if opened.text is None else len(opened.text()[1].split()))


def _texts(labels: StrPath, target: StrPath, reading: Reading, kind: str) -> Iterator[tuple[Labelled, Labelled]]:
    last, lines = 0, read_lines(target)
    if reading != AS_IT_IS or is_table(target):
        lines = (text[2] for text in open_corpus(target, **vars(reading)).texts())
    for number, (source, line) in enumerate(zip_longest(read_labelled(labels), lines), 1):
        if source is None or line is None:
            path, place = (labels, last) if source is None else (target, number - 1)
            raise CorpusError(
                path, place, f"ends after {counted(number - 1, 'sentence')}, and the other goes on", hint=_ONE_EACH
            )
        last = source.line + (len(source.words) if kind == "conll" else 0)
        text = utf8(line, target, number)
        words = words_of(text)  # no-break spaces are letters, as where links are made
        if kind == "conll" and not words:
            raise CorpusError(target, number, "is empty", hint=_ONE_EACH)
        yield source, Labelled(number, text, words)


def project(source: Labelled, target: Labelled, links: Mapping[Link, float]) -> Labelled:
    """The target with the labels of the source.  links: of their words, with their probabilities.

    Spans are carried by `project_spans`. In CoNLL-U each word gets the part of speech, features, head and relation by
    `project_tree`; in columns of other labels it has the label of its source word, or ``_``.
    """
    sentence, marks = source.sentence, None
    if sentence is not None and (sentence.is_conllu or source.marks is None):
        origins = best_origins(len(target.words), links)
        if sentence.is_conllu:
            rows = project_tree(sentence.rows, target.tokens, origins)
        else:
            labels = ["_" if origin is None else sentence.labels[origin] for origin in origins]
            rows = [*map(list, zip(target.tokens, labels, strict=True))]
        sentence = sentence.with_rows(rows)
    if source.marks is not None:
        marks = []
        for start, end, mark in project_spans(source.spans, len(target.words), links):
            first, last = target.words[start], target.words[end - 1]
            place = place_of(source.text[mark.start : mark.end], target.text, first, last)
            marks.append(Mark(*place, mark.name, mark.key))
    return replace(target, marks=marks, sentence=sentence)


def best_origins(words: int, links: Mapping[Link, float]) -> list[int | None]:
    """For each target word, the source word of its most probable link, the first of equals; None without links."""
    origins: list[int | None] = [None] * words
    best = [0.0] * words
    for (j, k), probability in sorted(links.items()):
        if origins[k] is None or probability > best[k]:
            origins[k], best[k] = j, probability
    return origins


def project_spans(
    spans: Sequence[tuple[int, int, Label]], words: int, links: Mapping[Link, float]
) -> list[tuple[int, int, Label]]:
    """The spans of target words, in order: first word, end and type.

    A span becomes the run of words that are linked to it, with unlinked words between them; of several runs the one
    with most links, of equals the first. A word that two spans are linked to belongs to the one with more links to it,
    of equals to the first; but to both if these have words in common, as one within the other.
    """
    linked, partners, rivals = (
        {k for _, k in links},
        defaultdict[int, list[int]](list),
        defaultdict[int, list[int]](list),
    )
    for j, k in links:
        partners[j].append(k)
    claims = [Counter(k for j in range(start, end) for k in partners[j]) for start, end, _ in spans]
    for number, claimed in enumerate(claims):
        for k in claimed:
            rivals[k].append(number)

    def has_lost(k: int, number: int) -> bool:
        start, end, _ = spans[number]
        apart = (other for other in rivals[k] if spans[other][1] <= start or end <= spans[other][0])
        return any((claims[other][k], -other) > (claims[number][k], -number) for other in apart)

    found = []
    for number, (_, _, name) in enumerate(spans):
        runs: list[list[int]] = []
        for k in sorted(claims[number]):
            if has_lost(k, number):
                continue
            if runs and linked.isdisjoint(range(runs[-1][-1] + 1, k)):
                runs[-1].append(k)
            else:
                runs.append([k])
        if runs:
            run = max(runs, key=lambda run: sum(claims[number][k] for k in run))
            found.append((run[0], run[-1] + 1, name))
    return sorted(found, key=lambda span: (span[0], -span[1]))


def project_tree(
    rows: Sequence[Sequence[str]], target: Sequence[str], origins: Sequence[int | None]
) -> list[list[str]]:
    """The rows of CoNLL-U of target words: part of speech and features of the source word, and its place in the tree.

    rows: of the source.  Of several words with one source word the first has its place. A head is the word of the
    source word's nearest ancestor that has one [HRWCK05]; a word without such has no head.
    """
    first: dict[int, int] = {}
    for k, origin in enumerate(origins):
        if origin is not None:
            first.setdefault(origin, k)
    heads = [number - 1 if (number := _number(row[HEAD])) is not None else len(rows) for row in rows]  # -1: the root
    found = []
    for k, (word, origin) in enumerate(zip(target, origins, strict=True)):
        row = [str(k + 1), word, *["_"] * (DEPREL + 1)]
        found.append(row)
        if origin is None:
            continue
        row[UPOS], row[FEATS] = rows[origin][UPOS], rows[origin][FEATS]
        ancestor, seen = heads[origin], {origin}
        while 0 <= ancestor < len(rows) and ancestor not in first and ancestor not in seen:
            seen.add(ancestor)
            ancestor = heads[ancestor]
        if first[origin] == k and (ancestor in first or heads[origin] == -1):
            row[HEAD], row[DEPREL] = str(first[ancestor] + 1 if ancestor in first else 0), rows[origin][DEPREL]
    return found
