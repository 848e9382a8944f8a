"""The output of ``aligner align --format jsonl``: an object a line, with tokens, links and perhaps scores."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import IO

from corpora.errors import CorpusError, quoted
from corpora.files import StrPath
from corpora.formats import Format
from corpora.links import Link, PairLinks, WordPair, check_range

Languages = tuple[str | None, str | None]

LINE = re.compile(rb'\s*\{\s*"source":\s*\[.*\}\s*')


def parse_jsonl(lines: Iterable[bytes], path: StrPath, *, probable: bool = False, **_: object) -> Iterator[PairLinks]:
    """The links and words of each line, sure unless they are ``possible``, too.  probable: scores are probabilities.

    Raises CorpusError on a line that is not such an object, or a link out of range.
    """
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
            source, target = [*values["source"]], [*values["target"]]
            " ".join([*source, *target])  # raises for what are no tokens
            scores = {(j, k): float(score) for j, k, *rest in values["links"] for score in rest[:1]}
            links = frozenset((j, k) for j, k, *_ in values["links"])
            possible = frozenset((j, k) for j, k in values.get("possible", ()))
            if not possible <= links:
                raise ValueError("a possible link that is no link")
            if any(type(place) is not int or place < 0 for link in links for place in link):
                raise ValueError("no position of a word")
            if probable and not all(0.0 < score <= 1.0 for score in scores.values()):
                raise ValueError("no probability")
        except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
            what = f"{quoted(line)} is no object of tokens and links"
            raise CorpusError(path, number, what, hint="lines are those that aligner writes as jsonl") from error
        found = PairLinks(links - possible, possible, scores, (source, target))
        check_range(found, len(source), len(target), path, number)
        yield found


def languages_of(line: bytes) -> Languages:
    """The languages of source and target that a line names, None where it does not."""
    with suppress(RecursionError, ValueError):
        match json.loads(line):
            case {"languages": [str() | None as source, str() | None as target]}:
                return source, target
    return None, None


def with_languages(pair: dict[str, object], languages: Languages) -> dict[str, object]:
    """A pair of these languages, as `languages_of` finds them, if they are known."""
    return pair if languages[0] == languages[1] else {**pair, "languages": languages}


def pair_object(
    source: Sequence[str], target: Sequence[str], links: Iterable[Link], scores: Sequence[float] | None
) -> dict[str, object]:
    """A pair as JSON values: its tokens, links [i, j, score] and their mean score; or, without scores, links [i, j]."""
    if scores is None:
        return {"source": source, "target": target, "links": [[*link] for link in links]}
    scored = [[*link, round(score, 4)] for link, score in zip(links, scores, strict=True)]
    mean = sum(scores) / len(scores) if scores else 0.0
    return {"source": source, "target": target, "links": scored, "score": round(mean, 4)}


def write_jsonl(stream: IO[bytes], pairs: Iterable[WordPair], languages: Languages = (None, None)) -> None:
    """Write a `pair_object` a line, with its languages; links that are only possible are in ``possible``, too."""
    for source, target, links in pairs:
        every = sorted(links.sure | links.possible)
        scores = [links.scores.get(link, 1.0) for link in every] if links.scores else None
        value = pair_object(source, target, every, scores)
        value |= {"possible": sorted(links.possible)} if links.possible else {}
        stream.write(f"{json.dumps(with_languages(value, languages), ensure_ascii=False)}\n".encode())


FORMATS = [
    Format(
        "jsonl",
        parse_jsonl,
        write_jsonl,
        line=LINE.fullmatch,
        objects=True,
        languages=False,
    )
]
