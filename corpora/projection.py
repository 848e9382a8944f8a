"""Carry the labels of a text's words across links to its translation  [Yarowsky, Ngai and Wicentowski 2001].

[HRWCK05] Hwa, Resnik, Weinberg, Cabezas and Kolak 2005, Bootstrapping parsers via syntactic projection.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import tee, zip_longest

from corpora.alignment import Link
from corpora.errors import NO_UTF8, CorpusError
from corpora.files import StrPath, read_lines
from corpora.formats.conll import DEPREL, FEATS, HEAD, UPOS, Sentence, read_sentences, spans_of, tags_of
from corpora.link_files import open_links, with_scores

_ONE_EACH = "sentence n, line n and links n must be one pair; a CoNLL file has no sentence for an empty line"


def project_file(labels: StrPath, target: StrPath, links: StrPath) -> Iterator[Sentence]:
    """`project` each sentence of a CoNLL file to the line of a target text, by a file of links in any format.

    Links that are only possible carry nothing where a pair has sure ones.  Raises CorpusError where one of the files
    ends sooner, and on what is broken.
    """
    pairs, ahead = tee(_pairs(labels, target))
    found = with_scores(open_links(links, lengths=((len(one.rows), len(words)) for one, words in ahead)), links)
    for number, ((sentence, words), pair) in enumerate(zip(pairs, found.pairs, strict=True), 1):
        if pair.words is not None and pair.words != (sentence.words, words):
            raise CorpusError(links, number, "has links of other words", hint="do the files belong together?")
        probabilities = {link: pair.scores.get(link, 1.0) for link in pair.links.sure or pair.links.possible}
        yield project(sentence, words, probabilities)


def _pairs(labels: StrPath, target: StrPath) -> Iterator[tuple[Sentence, list[str]]]:
    last = 0
    for number, (sentence, line) in enumerate(zip_longest(read_sentences(labels), read_lines(target)), 1):
        if sentence is None or line is None:
            path, place = (labels, last) if sentence is None else (target, number - 1)
            raise CorpusError(path, place, f"ends after {number - 1} sentences, and the other goes on", hint=_ONE_EACH)
        last = sentence.line + len(sentence.rows)
        try:
            words = [word.decode() for word in line.split()]  # no-break spaces are letters, as where links are made
        except UnicodeDecodeError as error:
            raise CorpusError(target, number, "not valid UTF-8", hint=NO_UTF8) from error
        if not words:
            raise CorpusError(target, number, "is empty", hint=_ONE_EACH)
        yield sentence, words


def project(sentence: Sentence, target: Sequence[str], links: Mapping[Link, float]) -> Sentence:
    """The target words with the labels of the sentence, in its format.  links: with their probabilities.

    In CoNLL-U each word gets the part of speech, features, head and relation by `project_tree`; in columns it has a
    tag of a span by `project_spans`, or the label of its source word, or ``_``.
    """
    origins = best_origins(len(target), links)
    if sentence.is_conllu:
        return sentence.with_rows(project_tree(sentence.rows, target, origins))
    labels = sentence.labels
    if sentence.has_spans:
        found = tags_of(project_spans(spans_of(labels), len(target), links), len(target))
    else:
        found = ["_" if origin is None else labels[origin] for origin in origins]
    return sentence.with_rows([[word, label] for word, label in zip(target, found, strict=True)])


def best_origins(words: int, links: Mapping[Link, float]) -> list[int | None]:
    """For each target word, the source word of its most probable link, the first of equals; None without links."""
    origins: list[int | None] = [None] * words
    best = [0.0] * words
    for (j, k), probability in sorted(links.items()):
        if origins[k] is None or probability > best[k]:
            origins[k], best[k] = j, probability
    return origins


def project_spans(
    spans: Sequence[tuple[int, int, str]], words: int, links: Mapping[Link, float]
) -> list[tuple[int, int, str]]:
    """The spans of target words, in order: first word, end and type.

    A span becomes the run of words that are linked to it, with unlinked words between them; of several runs the one
    with most links, of equals the first. A word that two spans are linked to belongs to the one with more links to it,
    of equals to the first.
    """
    linked, claims = {k for _, k in links}, Counter[tuple[int, int]]()
    for number, (start, end, _) in enumerate(spans):
        claims.update((k, number) for j, k in links if start <= j < end)
    owners: dict[int, int] = {}
    for (k, number), count in sorted(claims.items()):
        if k not in owners or count > claims[k, owners[k]]:
            owners[k] = number
    found = []
    for number, (_, _, name) in enumerate(spans):
        runs: list[list[int]] = []
        for k in (k for k, owner in owners.items() if owner == number):
            if runs and linked.isdisjoint(range(runs[-1][-1] + 1, k)):
                runs[-1].append(k)
            else:
                runs.append([k])
        if runs:
            run = max(runs, key=lambda run: sum(claims[k, number] for k in run))
            found.append((run[0], run[-1] + 1, name))
    return sorted(found)


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
    heads = [int(row[HEAD]) - 1 if row[HEAD].isdecimal() else len(rows) for row in rows]  # -1: the root
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
