"""DocBin files, as spaCy reads and writes them."""

import sys
from pathlib import Path
from typing import Any

import pytest
from commands import refused, run, write
from readings import leaves_out

from corpora.formats.conll import DEPREL, HEAD, UPOS
from corpora.formats.docbin import read_docbin


def needs_spacy(test: Any) -> Any:
    """It runs with other programs, in an environment of their own; what spaCy imports warns."""
    return pytest.mark.slow(pytest.mark.filterwarnings("ignore")(pytest.mark.usefixtures("spacy")(test)))


@pytest.fixture
def spacy() -> Any:
    return pytest.importorskip("spacy")


WORDS = ["Ana", "lives", "in", "Paris", "."]
TREE = {
    "pos": ["PROPN", "VERB", "ADP", "PROPN", "PUNCT"], "heads": [1, 1, 3, 1, 1],
    "deps": ["nsubj", "ROOT", "case", "obl", "punct"], "morphs": ["Number=Sing", "", "", "", ""],
}  # fmt: skip
ENTS = ["B-PER", "O", "O", "B-LOC", "O"]
SPACES = [True, True, True, False, False]


def put(path: Path, *docs: dict[str, Any]) -> Path:
    import spacy
    from spacy.tokens import Doc, DocBin

    vocab = spacy.blank("en").vocab
    DocBin(docs=[Doc(vocab, **{"words": WORDS, "spaces": SPACES, **doc}) for doc in docs]).to_disk(path)
    return path


def docs(path: Path) -> list[Any]:
    import spacy
    from spacy.tokens import DocBin

    return list(DocBin().from_disk(path).get_docs(spacy.blank("fr").vocab))


def project(folder: Path, links: str, output: str, target: str = "dort à (Paris). Ana") -> Path:
    files = write(folder / "t", target), write(folder / "k", links)
    run("project", folder / "s.spacy", *files, "-q", "--force", "-o", folder / output)
    return folder / output


@needs_spacy
def test_entities_and_trees(tmp_path: Path) -> None:
    put(tmp_path / "s.spacy", {"ents": ENTS, **TREE})
    (doc,) = docs(project(tmp_path, "0-3 1-0 2-1 3-2 4-2", "o.spacy"))
    assert [doc.text, *((one.text, one.label_) for one in doc.ents)] == [
        "dort à (Paris). Ana",
        ("(Paris).", "LOC"),
        ("Ana", "PER"),
    ]
    assert [(token.pos_, token.head.i, token.dep_, str(token.morph)) for token in doc] == [
        ("VERB", 0, "ROOT", ""),
        ("ADP", 2, "case", ""),
        ("PROPN", 0, "obl", ""),
        ("PROPN", 0, "nsubj", "Number=Sing"),
    ]
    scored = run("project", *(tmp_path / name for name in ("s.spacy", "t", "k")), "-q", "--gold", tmp_path / "o.spacy")
    assert [row.split()[:4] for row in scored.stdout.splitlines()[1:]] == [
        ["LOC", "1", "1", "1"],
        ["PER", "1", "1", "1"],
        ["all", "2", "2", "2"],
    ], "by words, as these are the same"
    put(tmp_path / "s.spacy", TREE)
    written = project(tmp_path, "0-3 1-0 2-1 3-2 4-2", "o.conllu").read_text().splitlines()
    assert written[2].split("\t") == ["3", "(Paris).", "_", "PROPN", "_", "_", "1", "obl", "_", "_"]


@needs_spacy
def test_links_count_the_tokens_of_spacy_or_words_between_spaces(tmp_path: Path) -> None:
    put(tmp_path / "s.spacy", {"ents": ENTS, **TREE})
    target = "dort à (Paris). Ana"
    for links in ("0-3 1-0 2-1 3-2 4-2", "0-3 1-0 2-1 3-2"):
        (doc,) = docs(project(tmp_path, links, "o.spacy", target))
        assert [one.text for one in doc.ents] == ["(Paris).", "Ana"]
    assert "count the tokens" in run("project", tmp_path / "s.spacy", tmp_path / "t", tmp_path / "k").stderr
    run("convert", tmp_path / "s.spacy", tmp_path / "words", "-q")
    assert (tmp_path / "words").read_text() == "Ana lives in Paris .\n"


@needs_spacy
def test_what_is_read(tmp_path: Path) -> None:
    import spacy
    from spacy.tokens import DocBin, Span

    doc = spacy.blank("en")("He  sleeps\nwell.")
    doc.spans["sc"] = [Span(doc, 0, 1, "X")]
    DocBin(docs=[doc]).to_disk(tmp_path / "a")
    with leaves_out(r"1 spans in groups \(doc.spans\)"):
        (one,) = read_docbin(tmp_path / "a")
    assert (one.tokens, one.marks) == (["He", "sleeps", "well", "."], []), "white space is no word"
    assert one.by_tokens.tokens == ["He", "sleeps", "well."]
    (one, other) = read_docbin(
        put(tmp_path / "a", {"tags": ["NNP", "VBZ", "IN", "NNP", "."]}, {"words": [], "spaces": []})
    )
    assert one.marks is None
    assert one.sentence is not None
    assert [[row[column] for column in (UPOS, HEAD, DEPREL)] for row in one.sentence.rows][:2] == [
        ["NNP", "_", "_"],
        ["VBZ", "_", "_"],
    ]
    assert (other.tokens, other.text, other.marks) == ([], "", None)


@needs_spacy
@pytest.mark.parametrize(
    "content", [b"x\x9cjunk", b"x\x9c\x03\x00\x00\x00\x00\x01", b"x\x9ccbd``J\xcc\x01\x00\x02\x93\x01\x03"]
)
def test_broken_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s").write_bytes(content)
    files = write(tmp_path / "t", "a"), write(tmp_path / "k", "0-0")
    assert "is no whole DocBin" in refused("project", tmp_path / "s", *files, "-q", "-o", tmp_path / "o")
    assert not (tmp_path / "o").exists()


@needs_spacy
def test_labels_that_a_doc_cannot_have(tmp_path: Path) -> None:
    write(tmp_path / "s.ann", "T1\tA 0 1\ta", "T2\tB 0 1\ta")
    write(tmp_path / "s.txt", "a")
    files = write(tmp_path / "t", "a"), write(tmp_path / "k", "0-0")
    message = refused("project", tmp_path / "s.ann", *files, "-q", "-o", tmp_path / "o.spacy")
    assert "o.spacy: text 1 cannot be a Doc: the B overlaps another label" in message
    rows = (
        ["1", "a", "_", "FOO", "_", "junk", "0", "root", "_", "_"],
        ["2", "b", "_", "X", "_", "_", "1", "dep", "_", "_"],
    )
    write(tmp_path / "s", *map("\t".join, rows))
    message = refused("project", tmp_path / "s", *files, "-q", "-o", tmp_path / "o.spacy")
    assert "cannot be a Doc" in message
    write(tmp_path / "s", *("\t".join(row).replace("junk", "A=B") for row in rows))
    run("project", tmp_path / "s", *files, "-q", "-o", tmp_path / "o.spacy")
    (doc,) = docs(tmp_path / "o.spacy")
    assert [(token.pos_, token.tag_, token.dep_) for token in doc] == [("", "FOO", "ROOT")]


def test_without_spacy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    (tmp_path / "s").write_bytes(b"x\x9c")
    files = write(tmp_path / "t", "a"), write(tmp_path / "k", "0-0")
    result = run("project", tmp_path / "s", *files, "-q", code=2)
    assert result.stderr.endswith("s is a file of spaCy, which needs spacy (pip install spacy)\n")
    write(tmp_path / "l", "a B-X")
    result = run("project", tmp_path / "l", *files, "-q", "-o", tmp_path / "o.spacy", code=2)
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "o.spacy").exists()
