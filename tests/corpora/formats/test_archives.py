"""Zip archives with two texts, as OPUS packs them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from corpora.errors import CorpusError
from corpora.formats.archives import Archive, is_archive
from corpora.readers import group_corpora, open_corpus

FILES = {
    "README": b"about\n", "LICENSE": b"free\n", "Books.en-fr.en": b"a b\n\nc\n", "Books.en-fr.ids": b"1\n2\n3\n",
    "Books.en-fr.fr": "x\r\ny z\r\né".encode(), "Books.en-fr.xml": b"<xml/>",
}  # fmt: skip
PAIRS = [(1, b"a b", b"x"), (2, b"", b"y z"), (3, b"c", "é".encode())]


def write(
    folder: Path, files: dict[str, bytes], name: str = "en-fr.txt.zip", method: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(folder / name, "w", method) as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    return folder / name


def test_texts_in_an_archive(tmp_path: Path) -> None:
    path = write(tmp_path, FILES)
    corpus = open_corpus(path)
    assert corpus.languages == ("en", "fr")
    assert list(corpus.texts()) == PAIRS
    assert [text for number in (1, 2) for text in corpus.shard(number, 2).texts()] == PAIRS
    assert list(open_corpus(path, source="fr").texts()) == [(n, b, a) for n, a, b in PAIRS]
    assert list(open_corpus(path, columns=("2", "1")).texts()) == [(n, b, a) for n, a, b in PAIRS]
    assert group_corpora([str(path), str(path)]) == [[str(path)], [str(path)]]
    three = write(tmp_path, {**FILES, "Books.en-fr.de": b"1\n2\n3\n"}, "three.zip")
    with pytest.raises(CorpusError, match="has 3 languages, en, fr, de"):
        open_corpus(three)
    wide = {name: content.decode().encode("utf-16") for name, content in FILES.items()}
    assert list(open_corpus(write(tmp_path, wide)).texts()) == PAIRS


def test_what_others_keep_in_archives_is_no_text(tmp_path: Path) -> None:
    """macOS adds files of the same names, and Windows some of its own."""
    kept = ("__MACOSX/._Books.en-fr.en", "__MACOSX/._Books.en-fr.fr", "._Books.en-fr.en", ".DS_Store", "x/Thumbs.db")
    path = write(tmp_path, {**dict.fromkeys(kept, b"\0\5"), **FILES})
    assert list(open_corpus(path).texts()) == PAIRS
    path = write(
        tmp_path, {f"Books/{name}": content for name, content in FILES.items()} | {"Books/._Books.en-fr.en": b""}
    )
    assert list(open_corpus(path).texts()) == PAIRS


@pytest.mark.parametrize(
    ("files", "listed"),
    [
        ({"a.tmx": b"x"}, "a.tmx"), ({"a.en": b"x", "b.fr": b"y", ".DS_Store": b""}, "a.en, b.fr"),
        ({"a.en": b"x", "a.fr": b"x", "b.en": b"y", "b.fr": b"y", **dict.fromkeys("cdefgh", b"")},
         "a.en, a.fr, b.en, b.fr, c, d, e, f and 2 more"),
    ],
)  # fmt: skip
def test_archives_of_something_else_say_what_is_in_them(tmp_path: Path, files: dict[str, bytes], listed: str) -> None:
    with pytest.raises(CorpusError, match=rf"not of two texts like x.en and x.fr: {listed} \(unpack it"):
        open_corpus(write(tmp_path, files))


def test_documents_are_no_archives(tmp_path: Path) -> None:
    path = write(tmp_path, {"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"})
    assert not is_archive(path)
    with pytest.raises(CorpusError, match="is a zip archive or a document"):
        open_corpus(path)


def test_what_is_damaged(tmp_path: Path) -> None:
    path = write(tmp_path, {**FILES, "Books.en-fr.fr": b"x\n"})
    with pytest.raises(CorpusError, match=r"txt.zip:1: Books.en-fr.fr ends here, but Books.en-fr.en goes on"):
        list(open_corpus(path).texts())
    path = write(tmp_path, FILES)
    content = bytearray(path.read_bytes())
    place = content.index(b"Books.en-fr.en") + 14
    content[place : place + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"txt.zip: Books.en-fr.en cannot be read"):
        list(Archive(path).parse(("en", "fr")))
    path.write_bytes(content[: len(content) // 2])
    assert not is_archive(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_any_byte_may_be_wrong(tmp_path: Path, method: int) -> None:
    whole, refusals = write(tmp_path, {"é.txt": b"", **FILES}, "whole.zip", method).read_bytes(), 0
    for place, byte in enumerate(whole):
        path = tmp_path / "wrong.zip"
        path.write_bytes(whole[:place] + bytes([byte ^ 0xFF]) + whole[place + 1 :])
        try:
            list(open_corpus(path).texts())
        except CorpusError:
            refusals += 1
    assert 0 < refusals < len(whole)


def test_what_is_encrypted(tmp_path: Path) -> None:
    path = write(tmp_path, FILES)
    content = path.read_bytes().replace(b"PK\x03\x04\x14\0\0", b"PK\x03\x04\x14\0\1")
    path.write_bytes(content.replace(b"PK\x01\x02\x14\x03\x14\0\0", b"PK\x01\x02\x14\x03\x14\0\1"))
    with pytest.raises(CorpusError, match=r"Books.en-fr.en cannot be read: .*encrypted"):
        list(open_corpus(path).texts())
