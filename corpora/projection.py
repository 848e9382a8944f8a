"""Carry the labels of a text's words across links to its translation  [Yarowsky, Ngai and Wicentowski 2001].

[HRWCK05] Hwa, Resnik, Weinberg, Cabezas and Kolak 2005, Bootstrapping parsers via syntactic projection.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import tee, zip_longest

from corpora.alignment import Link
from corpora.errors import NO_UTF8, CorpusError, counted, quoted
from corpora.files import StrPath, read_lines
from corpora.formats.conll import DEPREL, FEATS, HEAD, UPOS, Sentence, read_sentences, spans_of, tags_of
from corpora.link_files import open_links, with_scores
from corpora.readers import is_table, open_corpus
from corpora.reading import AS_IT_IS, Reading

_ONE_EACH = "sentence n, line n and links n must be one pair; a CoNLL file has no sentence for an empty line"

_ALIGN_WORDS = "align its words, which aligner convert writes; links of words are always taken in jsonl, which has them"


def project_file(labels: StrPath, target: StrPath, links: StrPath, reading: Reading = AS_IT_IS) -> Iterator[Sentence]:
    """`project` each sentence of a CoNLL file to the line of a target text, by a file of links in any format.

    reading: of the target text, where it is a whole corpus, such as a table.
    Links that are only possible carry nothing where a pair has sure ones.  Raises CorpusError where one of the files
    ends sooner, on what is broken, and at the end where links seem to count the tokens of the text, not its words.
    """
    pairs, ahead = tee(_pairs(labels, target, reading))
    found = with_scores(open_links(links, lengths=((len(one.rows), len(words)) for one, words in ahead)), links)
    with_tokens, of_words, of_tokens = 0, 0, list[tuple[Sentence, int]]()
    for number, ((sentence, words), pair) in enumerate(zip(pairs, found.pairs, strict=True), 1):
        if pair.words is not None and pair.words != (sentence.words, words):
            raise CorpusError(links, number, "has links of other words", hint="do the files belong together?")
        if sentence.is_conllu:
            _check_tree(sentence, labels)
        if sentence.tokens and pair.words is None:
            used = 1 + max((j for j, _ in pair.links.sure | pair.links.possible), default=-1)
            with_tokens, of_words = with_tokens + (used > 0), of_words + (used > max(sentence.tokens))
            of_tokens += [(sentence, used)] if used in sentence.tokens else []
        probabilities = {link: pair.scores.get(link, 1.0) for link in pair.links.sure or pair.links.possible}
        yield project(sentence, words, probabilities)
    if 2 * len(of_tokens) > with_tokens and not of_words:
        sentence, used = of_tokens[0]
        what = f"has {len(sentence.rows)} words, but its links are of {used} tokens, as its text has"
        raise CorpusError(labels, sentence.line, what, hint=_ALIGN_WORDS)


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


def _pairs(labels: StrPath, target: StrPath, reading: Reading) -> Iterator[tuple[Sentence, list[str]]]:
    last, lines = 0, read_lines(target)
    if reading != AS_IT_IS or is_table(target):
        lines = (text[2] for text in open_corpus(target, **vars(reading)).texts())
    for number, (sentence, line) in enumerate(zip_longest(read_sentences(labels), lines), 1):
        if sentence is None or line is None:
            path, place = (labels, last) if sentence is None else (target, number - 1)
            raise CorpusError(
                path, place, f"ends after {counted(number - 1, 'sentence')}, and the other goes on", hint=_ONE_EACH
            )
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
