"""Text in other encodings than UTF-8, read as if it were UTF-8: UTF-16 and UTF-32 by themselves, others if named."""

import codecs
import io
import re

from corpora import SettingError
from corpora.errors import CorpusError

BUFFER_BYTES = 1 << 18

_UNICODE = {
    rb"(?s)\xff\xfe\0\0|((?![\0-\x08]\0)..\0\0){2}": "utf-32-le",
    rb"(?s)\0\0(\xfe\xff|(?!\0[\0-\x08])..\0\0(?!\0[\0-\x08])..)": "utf-32-be",
    rb"\xff\xfe|([^\0]\0){2}": "utf-16-le",
    rb"\xfe\xff|(\0[^\0]){2}": "utf-16-be",
}
"""By a pattern of the first bytes: a mark, or two characters; UTF-16 is what Windows saves as "Unicode text"."""

_JSON = re.compile(rb'\s*\{\s*"')  # which is UTF-8 by its standard, and as this program writes links and words

_encoding = "utf-8"


def read_as(encoding: str) -> None:
    """Read text from now on in this encoding, where it is neither UTF-16, UTF-32 nor JSON.

    Raises SettingError for a name that is none.
    """
    global _encoding
    try:
        "\n".encode(encoding).decode(encoding, "ignore")
    except (LookupError, ValueError) as error:
        raise SettingError(f"unknown `encoding` {encoding!r} (give one like cp1252, gb18030 or shift_jis)") from error
    _encoding = codecs.lookup(encoding).name


def named_encoding() -> str | None:
    """The encoding that `read_as` was given, None for UTF-8."""
    return None if _encoding in ("utf-8", "utf-8-sig") else _encoding


def as_utf8(stream: io.BufferedReader, path: str, head: bytes = b"") -> io.BufferedReader:
    """The content of a stream in UTF-8; the stream itself, if that is what it has.

    path: for errors.  head: its first bytes, still unread.  Reading raises CorpusError on what is no such text.
    """
    found = next((name for magic, name in _UNICODE.items() if re.match(magic, head)), named_encoding())
    if found is None or head.startswith(codecs.BOM_UTF8) or _JSON.match(head):
        return stream
    return io.BufferedReader(_Transcoded(stream, path, found), BUFFER_BYTES)


def marked(beginning: bytes) -> bytes:
    """The beginning of a text in UTF-8, after a mark if a reader would take its first character for one."""
    return codecs.BOM_UTF8 + beginning if beginning.startswith(codecs.BOM_UTF8) else beginning


class _Transcoded(io.RawIOBase):
    """Decodes as much as has come, and hands it out in UTF-8."""

    def __init__(self, stream: io.BufferedReader, path: str, encoding: str) -> None:
        self._stream, self._path, self._encoding, self._lines = stream, path, encoding, 1
        self._decoder, self._rest, self._ended = codecs.getincrementaldecoder(encoding)(), b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not (self._rest or self._ended):
            chunk = self._stream.read1(BUFFER_BYTES)
            self._ended = not chunk
            try:
                self._rest = self._decoder.decode(chunk, self._ended).encode()
            except UnicodeError as error:
                sound = error.object[: error.start] if isinstance(error, UnicodeDecodeError) else b""
                line = self._lines + sound.decode(self._encoding, "ignore").count("\n")
                what, hint = f"not valid {self._encoding.upper()}", "is it in another encoding? name it by `encoding`"
                raise CorpusError(self._path, line, what, hint=hint) from error
        content, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(content)] = content
        self._lines += content.count(b"\n")
        return len(content)
