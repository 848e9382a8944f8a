"""Recognition of paths: the form of a file by its first lines, the files of a prefix by their names."""

import json
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from corpora.files import StrPath
from corpora.formats import Format
from corpora.formats.joint import OBJECT, split_joint
from corpora.paths import head

_MODULES = "standoff docbin label_studio pharaoh naacl giza comtrans jsonl tsv units sheets conll clearaligner"

FORMATS: dict[str, Format] = {
    row.name: row for name in _MODULES.split() for row in import_module(f"corpora.formats.{name}").FORMATS
}
"""What stands at the ends of modules of `corpora.formats`, by name, in the order in which formats are recognised."""

JOINT, OBJECTS, TEXT = Format("joint"), Format("objects", objects=True), Format("text", bare=True)


def form_of(path: StrPath) -> Format:
    """The format of a file, by its first lines."""
    return file_form(head(path))


def file_form(lines: Sequence[bytes]) -> Format:
    """The format of a file that begins with these lines."""
    content = [line for line in lines if line.strip()]
    for row in FORMATS.values():
        if row.knows(lines, "-") or (content and all(map(row.line, content))):
            return row
    are_objects = content and all(map(OBJECT.fullmatch, content))
    if any(b"|||" in line.split() for line in lines) and not (are_objects and any(map(_is_object, content))):
        return JOINT
    if are_objects:
        return OBJECTS
    # Tabs may be blanks of a text, too, or be missing where a line is broken.
    return JOINT if 2 * sum(len(split_joint(line)) == 2 for line in content) > len(content) else TEXT


def _is_object(line: bytes) -> bool:
    with suppress(ValueError, RecursionError):
        return bool(json.loads(line))
    return False


def links_format(path: StrPath, lines: Sequence[bytes] | None = None) -> Format:
    """The format of a links file, from its name or first element, else from its first lines, which may be given."""
    lines = head(path) if lines is None else lines
    first = next(filter(bytes.strip, lines), b"")
    rows = [row for row in FORMATS.values() if row.links]
    # A broken file is left to the parser, which names the line and the token.
    found = [row for row in rows if row.knows(lines, path)] + [row for row in rows if row.line(first)]
    return found[0] if found else FORMATS["pharaoh"]
