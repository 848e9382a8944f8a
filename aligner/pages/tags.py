"""The unsure tags of a document as one HTML file: each in its sentences, worst first, to be corrected by keyboard."""

from collections.abc import Iterator, Sequence
from typing import Any

from aligner.pages.assets import render
from aligner.pages.report import language_code
from corpora.errors import counted
from corpora.inline.carrying import Placed
from corpora.inline.documents import Segment


def shown(pair: int, segment: Segment, placed: Sequence[Placed]) -> Iterator[dict[str, Any]]:
    """What a page has of a segment, if one of its tags is unsure.  pair: its number.  placed: all its tags."""
    unsure = [(one.confidence, number) for number, one in enumerate(placed) if not one.sure]
    if unsure:
        yield {
            "pair": pair,
            "line": segment.line,
            "name": segment.name,
            "tags": [
                (one.tag.name, one.tag.opening, one.tag.is_pair, one.tag.start, one.tag.end, one.start, one.end)
                for one in placed
            ],
            "unsure": unsure,
            "tokens": segment.target.tokens,
            "sides": (segment.source.text, segment.target.text),
        }


def write_page(segments: Sequence[dict[str, Any]], languages: Sequence[str | None], name: str) -> str:
    """Return the HTML of a page, which needs no other file and no network.

    segments: as `shown` makes them.  name: of the document.
    """
    unsure = sorted((one, place, number) for place, own in enumerate(segments) for one, number in own["unsure"])
    data = {"segments": segments, "unsure": unsure, "languages": [*map(language_code, languages)]}
    return render(
        "tags.html",
        data,
        module="tags.js",
        styles=("drawing.css", "page.css", "tags.css"),
        title=f"Unsure tags of {name}",
        about=counted(len(unsure), "tag"),
    )
