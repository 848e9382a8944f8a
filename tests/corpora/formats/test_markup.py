"""XML that is damaged is refused in a line that says where, what, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.encodings import BUFFER_BYTES
from corpora.errors import CorpusError
from corpora.readers import open_corpus

WHOLE = (
    "<tmx><body>\n<tu><tuv xml:lang='en'><seg>a @ b</seg></tuv><tuv xml:lang='de'><seg>c</seg></tuv></tu></body></tmx>"
)


@pytest.mark.parametrize("before", [0, BUFFER_BYTES - 40, BUFFER_BYTES])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("\x02", r":2: has the character U\+0002, which XML forbids \(delete it there, or write a blank for it\)"),
        ("\x1f", r":2: has the character U\+001F"),
        ("&#x1F;", r":2: has the character &#x1F;, which XML forbids"),
        ("&", r":2: has '&' as a letter, which XML writes as &amp; \(write it so"),
        ("<", r":2: has '<' as a letter, which XML writes as &lt;"),
        ("</b>", ":2: is no whole TMX file: mismatched tag"),
    ],
)
def test_what_xml_forbids_is_named(tmp_path: Path, wrong: str, message: str, encoding: str, before: int) -> None:
    content = WHOLE.replace("<body>", f"<body><!-- {'x' * before} -->").replace("@", wrong)
    (tmp_path / "m.tmx").write_bytes((("\ufeff" if encoding == "utf-16-be" else "") + content).encode(encoding))
    with pytest.raises(CorpusError, match=message):
        open_corpus(tmp_path / "m.tmx")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("\uffff".encode(), r":2: has the character U\+FFFF"), ("\ufffe".encode(), r":2: has the character U\+FFFE"),
        (b"\xe9", r":2: is not valid UTF-8 \(save it in UTF-8, or name its encoding in its first line\)"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_letters_are_named(tmp_path: Path, wrong: bytes, message: str) -> None:
    (tmp_path / "m.tmx").write_bytes(WHOLE.encode().replace(b"@", wrong))
    with pytest.raises(CorpusError, match=message):
        open_corpus(tmp_path / "m.tmx")
    (tmp_path / "m.tmx").write_bytes(
        b"<?xml version='1.0' encoding='latin-1'?>" + WHOLE.encode().replace(b"@", b"\xe9")
    )
    assert list(open_corpus(tmp_path / "m.tmx").texts()) == [(1, "a é b".encode(), b"c")]


def test_a_text_that_is_not_in_its_element_is_missed(tmp_path: Path) -> None:
    (tmp_path / "m.tmx").write_text(WHOLE.replace("<seg>", "").replace("</seg>", ""))
    with pytest.raises(CorpusError, match=r"m.tmx: has tuv elements without a seg, which has the text"):
        open_corpus(tmp_path / "m.tmx")
