"""JSON of ClearAligner: records of linked groups of words, by the identifiers of the words.

A word is named as in its tables of text, by eleven digits: there book, chapter, verse and word, here the number of the
pair, eight digits, and of the word, three.  https://github.com/Clear-Bible/clear-aligner, docs/file-formats
"""

import json
import re
from collections.abc import Iterable
from typing import BinaryIO
from uuid import NAMESPACE_OID, uuid5

from corpora.formats import Format
from corpora.links import Link, WordPair

_MOST_WORDS = 999  # of a sentence


def write_clearaligner(stream: BinaryIO, pairs: Iterable[WordPair]) -> None:
    """Write a record for each group of words that links connect; those of possible links are to be reviewed."""
    stream.write(b'{"type": "translation", "meta": {"creator": "aligner"}, "records": [')
    between = b"\n"
    for number, (_, _, links) in enumerate(pairs, 1):
        for group in _connected(links.sure | links.possible):
            words = (sorted({link[side] + 1 for link in group}) for side in (0, 1))
            source, target = ([f"{number:08}{word:03}" for word in side] for side in words)
            name = str(uuid5(NAMESPACE_OID, f"{source} {target}"))
            status = "needsReview" if links.possible & group else "created"
            meta = {"id": name, "origin": "aligner", "status": status}
            stream.write(between + json.dumps({"meta": meta, "source": source, "target": target}).encode())
            between = b",\n"
    stream.write(b"\n]}\n")


def _connected(links: Iterable[Link]) -> list[set[Link]]:
    """Divide links into groups that have no word in common."""
    groups: list[set[Link]] = []
    for j, k in sorted(links):
        touched = [group for group in groups if any(j == link[0] or k == link[1] for link in group)]
        groups = [group for group in groups if group not in touched] + [set().union({(j, k)}, *touched)]
    return groups


_WIDE = re.compile(rf"\A(?:\S+ ){{{_MOST_WORDS}}}"), f"more than {_MOST_WORDS} words"

FORMATS = [Format("clearaligner", None, write_clearaligner, unwritable=_WIDE)]
