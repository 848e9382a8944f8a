"""spaCy's ``.spacy`` files (DocBin): texts with entities, parts of speech and trees; the package spacy reads them."""

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, BinaryIO

from corpora import SettingError
from corpora.errors import CorpusError
from corpora.files import StrPath, read_whole
from corpora.formats.conll import DEPREL, FEATS, HEAD, UPOS, Sentence
from corpora.formats.spans import Labelled, Mark
from corpora.left_out import warn_of_left_out

MAGIC = b"x\x9c"
"""How such files begin, as zlib packs them; no text in UTF-8 does."""


def import_spacy(path: StrPath) -> ModuleType:
    """The package spacy.  Raises SettingError without it."""
    try:
        import spacy
        import spacy.tokens
    except ModuleNotFoundError as error:
        raise SettingError(f"{path} is a file of spaCy, which needs spacy (pip install spacy)") from error
    module: ModuleType = spacy
    return module


def read_docbin(path: StrPath) -> Iterator[Labelled]:
    """Read the texts of a file, with spaCy's tokens as words; those without a blank between them make a token of it.

    Spans in groups (``doc.spans``) are left out, and counted.  Raises CorpusError on a file that spaCy cannot read.
    """
    spacy, groups = import_spacy(path), 0
    try:
        docs = spacy.tokens.DocBin().from_bytes(read_whole(path, text=False))
        for number, doc in enumerate(docs.get_docs(spacy.blank("xx").vocab), 1):
            groups += sum(map(len, doc.spans.values()))
            yield _labelled(number, doc)
    except (KeyError, TypeError, ValueError) as error:
        raise CorpusError(path, 0, f"is no whole DocBin: {error}", hint="write it again with spaCy") from error
    warn_of_left_out(path, {"spans in groups (doc.spans)": groups} if groups else {})


def _labelled(number: int, doc: Any) -> Labelled:
    words = [token for token in doc if not token.is_space]
    places = {token.i: place for place, token in enumerate(words, 1)}
    rows, ranges, start = list[list[str]](), dict[int, tuple[int, str]](), 0
    for place, token in enumerate(words, 1):
        head = "_"
        if token.has_head():
            head = str(0 if token.head.i == token.i else places.get(token.head.i, 0))
        label, morph = token.pos_ or token.tag_ or "_", str(token.morph) or "_"
        rows.append([str(place), token.text, "_", label, "_", morph, head, token.dep_ or "_", "_", "_"])
        following = words[place : place + 1]
        if not following or following[0].idx > token.idx + len(token):
            if place > start + 1:
                ranges[start] = place, doc.text[words[start].idx : token.idx + len(token)]
            start = place
    has_tree = any(map(doc.has_annotation, ("POS", "TAG", "DEP")))
    has_spans = doc.has_annotation("ENT_IOB") or not has_tree
    marks = [Mark(one.start_char, one.end_char, one.label_) for one in doc.ents]
    where = [(token.idx, token.idx + len(token)) for token in words]
    return Labelled(number, doc.text, where, marks if has_spans else None, Sentence(number, rows, ranges=ranges))


def write_docbin(stream: BinaryIO, texts: Iterable[Labelled], path: StrPath) -> None:
    """Write the words of each text with blanks between them, and its spans as entities, its tree as spaCy has it.

    path: for errors.  Raises CorpusError where spaCy refuses a label, or spans overlap.
    """
    texts, spacy = list(texts), import_spacy(path)  # in this order, as it may be the file read that needs it
    docs = spacy.tokens.DocBin(attrs=["POS", "TAG", "MORPH", "HEAD", "DEP", "ENT_IOB", "ENT_TYPE"])
    vocab = spacy.blank("xx").vocab
    for one in texts:
        layers: dict[str, Any] = {}
        if one.sentence is not None and one.sentence.is_conllu:
            layers = _tree(one.sentence.rows, spacy.parts_of_speech.IDS)
        try:
            if one.marks is not None:
                layers["ents"] = [row[-1] for row in one.rows.rows]
            spaces = [True] * (len(one.words) - 1) + [False]
            docs.add(spacy.tokens.Doc(vocab, words=one.tokens, spaces=spaces[: len(one.words)], **layers))
        except ValueError as error:
            what = f"text {one.line} cannot be a Doc: {error}"
            raise CorpusError(path, 0, what, hint="labels that overlap can be .json or .ann") from error
    stream.write(docs.to_bytes())


def _tree(rows: list[list[str]], known: dict[str, int]) -> dict[str, list[Any]]:
    """The layers of a Doc.  known: parts of speech of spaCy; others are tags."""
    labels, relations = ([row[column].strip("_") for row in rows] for column in (UPOS, DEPREL))
    return {
        "pos": [label if label in known else "" for label in labels],
        "tags": ["" if label in known else label for label in labels],
        "morphs": [row[FEATS].strip("_") for row in rows],
        "heads": [int(row[HEAD]) - 1 if row[HEAD].strip("_0") else place for place, row in enumerate(rows)],
        "deps": ["ROOT" if relation == "root" else relation for relation in relations],
    }
