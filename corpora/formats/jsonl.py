"""The output of ``aligner align --format jsonl``: an object a line, whose tokens and links are read."""

import json
import re
from collections.abc import Iterable, Iterator

from corpora.alignment import PairLinks, check_range
from corpora.errors import CorpusError, quoted
from corpora.files import StrPath

LINE = re.compile(rb'\s*\{\s*"source":\s*\[.*\}\s*')


def parse_jsonl(lines: Iterable[bytes], path: StrPath, *, probable: bool = False) -> Iterator[PairLinks]:
    """The links of each line, all sure.  CorpusError on a line that is not such an object, or a link out of range.

    probable: their scores are probabilities.
    """
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
            lengths = len(values["source"]), len(values["target"])
            scores = {(j, k): float(score) for j, k, *rest in values["links"] for score in (*rest, 1.0)[:1]}
            " ".join([*values["source"], *values["target"]])  # raises for what are no tokens
            links = frozenset(scores)
            if any(type(place) is not int or place < 0 for link in links for place in link):
                raise ValueError("no position of a word")
            if probable and not all(0.0 < score <= 1.0 for score in scores.values()):
                raise ValueError("no probability")
        except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
            what = f"{quoted(line)} is no object of tokens and links"
            raise CorpusError(path, number, what, hint="lines are those that aligner writes as jsonl") from error
        found = PairLinks(links, frozenset(), scores if probable else {})
        check_range(found, *lengths, path, number)
        yield found
