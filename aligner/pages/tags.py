"""The unsure tags of a document as one HTML file: each in its sentences, worst first, to be corrected by keyboard."""

from collections.abc import Iterable, Sequence

from aligner.pages.assets import render
from aligner.pages.report import language_code
from corpora.errors import counted
from corpora.inline.carrying import Placed
from corpora.inline.documents import Segment


def write_page(
    segments: Iterable[tuple[int, Segment, Sequence[Placed]]], languages: Sequence[str | None], name: str
) -> str:
    """Return the HTML of a page, which needs no other file and no network.

    segments: with their numbers, and all tags of the source as they are placed.  name: of the document.
    """
    shown, unsure = list[dict[str, object]](), list[tuple[float, int, int]]()
    for pair, segment, placed in segments:
        unsure += ((one.confidence, len(shown), number) for number, one in enumerate(placed) if not one.sure)
        tags = [
            (one.tag.name, one.tag.opening, one.tag.is_pair, one.tag.start, one.tag.end, one.start, one.end)
            for one in placed
        ]
        shown.append(
            {
                "pair": pair,
                "line": segment.line,
                "name": segment.name,
                "tags": tags,
                "tokens": segment.target.tokens,
                "sides": (segment.source.text, segment.target.text),
            }
        )
    unsure.sort()
    data = {"segments": shown, "unsure": unsure, "languages": [*map(language_code, languages)]}
    return render(
        "tags.html",
        data,
        module="tags.js",
        styles=("drawing.css", "page.css", "tags.css"),
        title=f"Unsure tags of {name}",
        about=counted(len(unsure), "tag"),
    )
