"""spaCy's ``.spacy`` files (DocBin): texts with entities, parts of speech and trees; the package spacy reads them."""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from corpora import SettingError
from corpora.errors import CorpusError
from corpora.files import StrPath, read_whole
from corpora.formats import Format
from corpora.formats.conll import DEPREL, FEATS, HEAD, UPOS, Sentence
from corpora.formats.spans import Labelled, Mark
from corpora.left_out import warn_of_left_out

_MAGIC = b"x\x9c"
"""How such files begin, as zlib packs them; no text in UTF-8 does."""


def import_spacy(path: StrPath) -> Any:
    """The package spacy.  Raises SettingError without it."""
    try:
        import spacy
        import spacy.tokens
    except ModuleNotFoundError as error:
        raise SettingError(f"{path} is a file of spaCy, which needs spacy (pip install spacy)") from error
    return spacy


def read_docbin(path: StrPath) -> Iterator[Labelled]:
    """Read the texts of a file, with spaCy's tokens as words; those without a blank between them make a token of it.

    Entities are spans, if there are any, or no other labels. Spans in groups (``doc.spans``) are left out, and counted.
    Raises CorpusError on a file that spaCy cannot read.
    """
    spacy = import_spacy(path)
    try:
        packed = spacy.tokens.DocBin().from_bytes(read_whole(path, text=False))
        docs = list(packed.get_docs(spacy.blank("xx").vocab))
    except (KeyError, TypeError, ValueError) as error:
        raise CorpusError(path, 0, f"is no whole DocBin: {error}", hint="write it again with spaCy") from error
    layers = "POS", "TAG", "DEP"
    has_spans = any(doc.ents for doc in docs) or not any(doc.has_annotation(layer) for doc in docs for layer in layers)
    for number, doc in enumerate(docs, 1):
        marks = [Mark(one.start_char, one.end_char, one.label_) for one in doc.ents]
        words = [token for token in doc if not token.is_space]
        places = [(token.idx, token.idx + len(token)) for token in words]
        yield Labelled(number, doc.text, places, marks if has_spans else None, _sentence(number, doc.text, words))
    groups = sum(len(group) for doc in docs for group in doc.spans.values())
    warn_of_left_out(path, {"spans in groups (doc.spans)": groups} if groups else {})


def _sentence(number: int, text: str, words: list[Any]) -> Sentence:
    rows, ranges, first = list[list[str]](), dict[int, tuple[int, str]](), 0
    places = {token.i: place for place, token in enumerate(words, 1)}
    for place, token in enumerate(words, 1):
        is_root = token.head.i == token.i
        head = str(0 if is_root else places.get(token.head.i, 0)) if token.has_head() else "_"
        label, morph = token.pos_ or token.tag_ or "_", str(token.morph) or "_"
        rows.append([str(place), token.text, "_", label, "_", morph, head, token.dep_ or "_", "_", "_"])
        end = token.idx + len(token)
        if text[end : end + 1].strip() == "":
            if place > first + 1:
                ranges[first] = place, text[words[first].idx : end]
            first = place
    return Sentence(number, rows, ranges=ranges)


def write_docbin(stream: BinaryIO, texts: Iterable[Labelled], _: object, path: StrPath) -> None:
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


FORMATS = [
    Format(
        "spacy",
        knows=lambda lines, _: lines and lines[0].startswith(_MAGIC),
        read=read_docbin,
        write_labels=write_docbin,
    )
]
