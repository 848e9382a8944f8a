"""The output of ``aligner align --format tsv``: five numbers and the links of a pair, with tabs between them."""

import re
from collections.abc import Iterable, Iterator

from corpora.errors import CorpusError, quoted
from corpora.files import StrPath
from corpora.formats import Format
from corpora.formats.pharaoh import parse_links
from corpora.links import PairLinks

COLUMNS = "target given source", "source given target", "both", "unlinked", "score", "links"
"""Three log probabilities a word, the share of words without a link, the mean score of the links, and ``i-j``."""

ROW = b"%.4f\t" * (len(COLUMNS) - 1) + b"%b\n"
LINE = re.compile(rb"(?:-?(?:[0-9]+\.[0-9]+|inf|nan)\t){%d}[^\t]*" % (len(COLUMNS) - 1))


def parse_tsv(lines: Iterable[bytes], path: StrPath, **_: object) -> Iterator[PairLinks]:
    """The links of each line, all sure.  CorpusError on a line without the COLUMNS, or with a broken link."""
    for number, line in enumerate(lines, 1):
        if not LINE.fullmatch(line):
            what = f"{quoted(line)} is no line of {len(COLUMNS) - 1} numbers and links"
            raise CorpusError(path, number, what, hint="lines are those that aligner writes as tsv")
        yield parse_links(line.rpartition(b"\t")[2], path, number)


FORMATS = [Format("tsv", parse_tsv, line=LINE.fullmatch, bare=True)]
