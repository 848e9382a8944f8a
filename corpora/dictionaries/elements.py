"""XML of dictionaries, read element by element."""

import re
from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element, TreeBuilder

from corpora.files import StrPath
from corpora.formats.markup import parse

_FIRST = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z][\w-]*)")


def first_element(head: bytes) -> bytes:
    """The name of the first element of XML, whatever its encoding; nothing for any other file."""
    text = head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    found = _FIRST.search(text) if text.startswith(b"<") else None
    return found[1] if found else b""


def elements(path: StrPath, kind: str, names: Collection[str], *, entities: bool = False) -> Iterator[Element]:
    """The elements of these names, with all that is in them.  kind, entities, errors: as of `parse`."""
    done, open_ones, builder = list[Element](), 0, TreeBuilder()

    def start(name: str, values: dict[str, str]) -> None:
        nonlocal open_ones
        if open_ones or name in names:
            open_ones += 1
            builder.start(name, values)

    def end(name: str) -> None:
        nonlocal open_ones, builder
        if open_ones:
            open_ones -= 1
            builder.end(name)
            if not open_ones:
                done.append(builder.close())
                builder = TreeBuilder()

    def read(text: str) -> None:
        if open_ones:
            builder.data(text)

    for _ in parse(path, kind, start, end, read, entities=entities):
        yield from done
        done.clear()


def text_of(element: Element | None) -> str:
    """The text in an element, on one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
