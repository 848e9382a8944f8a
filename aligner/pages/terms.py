"""The terms of a text as one HTML file: a list to search and sort, with each term in some of its sentences."""

from collections.abc import Iterable, Sequence

from aligner.pages.assets import render
from aligner.pages.report import language_code
from corpora.errors import counted
from corpora.terms import Pair, Term

MOST = 5000
"""Terms of a page."""


def write_page(terms: Sequence[Term], pairs: Iterable[Pair], languages: Sequence[str | None], name: str) -> str:
    """Return the HTML of a page of terms, which needs no other file and no network.

    pairs: of the text.  name: of the text.  languages: of source and target.
    """
    shown = terms[:MOST]
    wanted = {number for term in shown for number, _ in term.places}
    sentences = {number: [*sides] for number, (*sides, _) in enumerate(pairs, 1) if number in wanted}
    data = {"terms": shown, "sentences": sentences, "languages": [*map(language_code, languages)]}
    about = counted(len(terms), "term") if len(terms) <= MOST else f"the first {MOST:,} of {len(terms):,} terms"
    return render(
        "terms.html", data, module="terms.js", styles=("drawing.css", "page.css"), title=f"Terms of {name}", about=about
    )
