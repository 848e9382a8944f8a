"""Zip archives with two texts, as OPUS packs them."""

import zipfile
from pathlib import Path

import pytest
from readings import pairs, refuses, turned

from corpora.formats.archives import Archive, is_archive
from corpora.readers import group_corpora, open_corpus

FILES = {
    "README": b"about\n", "LICENSE": b"free\n", "Books.en-fr.en": b"a b\n\nc\n", "Books.en-fr.ids": b"1\n2\n3\n",
    "Books.en-fr.fr": "x\r\ny z\r\né".encode(), "Books.en-fr.xml": b"<xml/>",
}  # fmt: skip
PAIRS = ["a b|x", "|y z", "c|é"]


def write(folder: Path, files: dict[str, bytes], name: str = "en-fr.txt.zip") -> Path:
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    return folder / name


def test_texts_in_an_archive(tmp_path: Path) -> None:
    path = write(tmp_path, FILES)
    assert open_corpus(path).languages == ("en", "fr")
    assert pairs(path) == PAIRS
    assert pairs(path, source="fr") == pairs(path, "2,1") == turned(PAIRS)
    assert group_corpora([str(path), str(path)]) == [[str(path)], [str(path)]]
    wide = {name: content.decode().encode("utf-16") for name, content in FILES.items()}
    assert pairs(write(tmp_path, wide)) == PAIRS
    with refuses("has 3 languages, en, fr, de"):
        open_corpus(write(tmp_path, {**FILES, "Books.en-fr.de": b"1\n2\n3\n"}))


def test_what_others_keep_in_archives_is_no_text(tmp_path: Path) -> None:
    """macOS adds files of the same names, and Windows some of its own."""
    kept = ("__MACOSX/._Books.en-fr.en", "__MACOSX/._Books.en-fr.fr", "._Books.en-fr.en", ".DS_Store", "x/Thumbs.db")
    in_folder = {f"Books/{name}": content for name, content in FILES.items()}
    for files in ({**dict.fromkeys(kept, b"\0\5"), **FILES}, in_folder | {"Books/._Books.en-fr.en": b""}):
        assert pairs(write(tmp_path, files)) == PAIRS


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("a.tmx", "a.tmx"), ("a.en b.fr .DS_Store", "a.en, b.fr"),
        ("a.en a.fr b.en b.fr c d e f g h", "a.en, a.fr, b.en, b.fr, c, d, e, f and 2 more"),
        ("[Content_Types].xml word/document.xml", ""),
    ],
)  # fmt: skip
def test_archives_of_something_else_say_what_is_in_them(tmp_path: Path, files: str, message: str) -> None:
    path = write(tmp_path, dict.fromkeys(files.split(), b"x"))
    assert is_archive(path) == (message != "")
    of_other = rf"not of two texts like x.en and x.fr: {message} \(unpack it"
    with refuses(of_other if message else "is a zip archive or a document"):
        open_corpus(path)


def test_what_is_damaged(tmp_path: Path) -> None:
    with refuses(r"txt.zip:1: Books.en-fr.fr ends here, but Books.en-fr.en goes on"):
        pairs(write(tmp_path, {**FILES, "Books.en-fr.fr": b"x\n"}))
    path = write(tmp_path, FILES)
    content = path.read_bytes()
    encrypted = content.replace(b"PK\x03\x04\x14\0\0", b"PK\x03\x04\x14\0\1")
    path.write_bytes(encrypted.replace(b"PK\x01\x02\x14\x03\x14\0\0", b"PK\x01\x02\x14\x03\x14\0\1"))
    with refuses(r"Books.en-fr.en cannot be read: .*encrypted"):
        pairs(path)
    place = content.index(b"Books.en-fr.en") + 14
    path.write_bytes(content[:place] + b"\xff\xff\xff\xff" + content[place + 4 :])
    with refuses(r"txt.zip: Books.en-fr.en cannot be read"):
        list(Archive(path).parse(("en", "fr")))
    path.write_bytes(content[: len(content) // 2])
    assert not is_archive(path)
