"""Carry the labels of a text across links to its translation  [Yarowsky, Ngai and Wicentowski 2001].

[HRWCK05] Hwa, Resnik, Weinberg, Cabezas and Kolak 2005, Bootstrapping parsers via syntactic projection.
"""

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee, zip_longest
from typing import NamedTuple, TypeVar

from corpora.alignment import Link
from corpora.errors import CorpusError, counted, quoted, utf8
from corpora.files import StrPath, read_lines
from corpora.formats.conll import DEPREL, FEATS, HEAD, UPOS, Sentence
from corpora.formats.spans import Labelled, Mark, place_of, words_of
from corpora.labelled import kind_of_labels, read_labelled
from corpora.link_files import ScoredLinks, open_links, with_scores
from corpora.readers import is_table, open_corpus
from corpora.reading import AS_IT_IS, Reading
from corpora.recognize import head, is_stream, links_format
from corpora.same_text import places_of

Label = TypeVar("Label")

_ONE_EACH = "sentence n, line n and links n must be one pair; a CoNLL file has no sentence for an empty line"

_ALIGN_WORDS = "align its words, which aligner convert writes; links of words are always taken in jsonl, which has them"

_TOGETHER = "do the files belong together?"


def project_file(labels: StrPath, target: StrPath, links: StrPath, reading: Reading = AS_IT_IS) -> Iterator[Sentence]:
    """`project_labels` as sentences of CoNLL files.  Raises ValueError where spans overlap."""
    return (one.rows for one in project_labels(labels, target, links, reading))


class _Pair(NamedTuple):
    source: Labelled
    target: Labelled
    links: ScoredLinks
    length: int  # of the source, as far as it is linked, or as the file of links has it


def project_labels(labels: StrPath, target: StrPath, links: StrPath, reading: Reading = AS_IT_IS) -> Iterator[Labelled]:
    """`project` each text of a file with labels to the line of a target text, by a file of links in any format.

    reading: of the target text, where it is a whole corpus, such as a table.
    Links of CoNLL-U and of spaCy's files count the words, or the tokens of the text: that is told by the words that a
    file of links has, else by all links, and a warning says where it is tokens. Links that are only possible carry
    nothing where a pair has sure ones.
    Raises CorpusError where one of the files ends sooner, on what is broken, and where links seem to count neither.
    """
    kind, of_tokens = kind_of_labels(labels), False
    pairs: Iterable[_Pair] = _pairs(labels, target, links, reading, kind)
    if kind in ("conll", "docbin"):
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
        found = _as_linked(source, pair.words, of_tokens)
        if found is None or (kind == "conll" and pair.words is not None and pair.words[1] != line.tokens):
            raise CorpusError(links, number, "has links of other words", hint=_TOGETHER)
        if pair.words is not None and pair.words[1] != line.tokens:
            try:
                line = replace(line, words=places_of(line.text, pair.words[1]))
            except ValueError as error:
                raise CorpusError(links, number, f"has links of other words: {error}", hint=_TOGETHER) from error
        if source.sentence is not None and len(found.words) < len(source.words) and not is_told:
            is_told = True
            warnings.warn(f"{links}: the links count the tokens of {labels}, not its words", stacklevel=2)
        probabilities = {link: pair.scores.get(link, 1.0) for link in pair.links.sure or pair.links.possible}
        yield project(found, line, probabilities)


def _as_linked(source: Labelled, words: tuple[list[str], list[str]] | None, of_tokens: bool) -> Labelled | None:
    """The source with the words that the links count: these, if they are known; None where they are of another text."""
    if words is None:
        return source.by_tokens if of_tokens else source
    for one in (source, source.by_tokens):
        if one.tokens == words[0]:
            return one
    if source.sentence is not None:
        return None
    try:
        return replace(source, words=places_of(source.text, words[0]))
    except ValueError:
        return None


def _count_tokens(pairs: Iterable[_Pair], labels: StrPath) -> bool:
    """Whether links count the tokens of the text, not its words: they end there in most sentences, and never go beyond.

    Raises CorpusError where that is so of the comments with the text, divided at spaces, alone.
    """
    there, ends, beyond = Counter[str](), Counter[str](), Counter[str]()
    first = dict[str, tuple[Sentence, int]]()
    for source, _, pair, used in pairs:
        sentence = source.sentence
        if sentence is None or pair.words is not None or not used:
            continue
        for kind, count in (("tokens", len(sentence.tokens)), ("text", sentence.text_tokens or 0)):
            if 0 < count < len(sentence.rows):
                there[kind] += 1
                ends[kind] += used == count
                beyond[kind] += used > count
                first.setdefault(kind, (sentence, used)) if used == count else None
    found = [kind for kind in there if 2 * ends[kind] > there[kind] and not beyond[kind]]
    if found == ["text"]:
        sentence, used = first["text"]
        what = f"has {len(sentence.rows)} words, but its links are of {used} tokens, as its text has"
        raise CorpusError(labels, sentence.line, what, hint=_ALIGN_WORDS)
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
    texts = _texts(labels, target, reading, kind)
    stream = is_stream(links)
    has_words = not stream and links_format(links, head(links)) == "jsonl"
    if kind != "conll" and has_words:  # which may be other words of the same text
        opened = open_links(links)
    else:
        texts, ahead = tee(texts)
        opened = open_links(links, lengths=((len(one.words), len(line.words)) for one, line in ahead))
    if kind != "conll" and stream and opened.format == "jsonl":
        raise CorpusError(links, 0, "is read more than once, as no pipe can be", hint="write it to a file first")
    for number, (both, pair) in enumerate(zip_longest(texts, with_scores(opened, links).pairs), 1):
        if both is None or pair is None:
            ended, other = ("links end", "text goes") if pair is None else ("text ends", "links go")
            what = f"the {ended} after {counted(number - 1, 'pair')}, but the {other} on"
            raise CorpusError(links, number if both is None else number - 1, what, hint=_TOGETHER)
        linked = 1 + max((j for j, _ in pair.links.sure | pair.links.possible), default=-1)
        source, line = both
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
    linked, claims = {k for _, k in links}, Counter[tuple[int, int]]()
    for number, (start, end, _) in enumerate(spans):
        claims.update((k, number) for j, k in links if start <= j < end)
    rivals = defaultdict[int, list[int]](list)
    for k, number in sorted(claims):
        rivals[k].append(number)

    def has_lost(k: int, number: int) -> bool:
        start, end, _ = spans[number]
        apart = (other for other in rivals[k] if spans[other][1] <= start or end <= spans[other][0])
        return any((claims[k, other], -other) > (claims[k, number], -number) for other in apart)

    found = []
    for number, (_, _, name) in enumerate(spans):
        runs: list[list[int]] = []
        for k in (k for k, own in sorted(rivals.items()) if number in own and not has_lost(k, number)):
            if runs and linked.isdisjoint(range(runs[-1][-1] + 1, k)):
                runs[-1].append(k)
            else:
                runs.append([k])
        if runs:
            run = max(runs, key=lambda run: sum(claims[k, number] for k in run))
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
