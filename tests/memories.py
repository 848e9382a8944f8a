"""Files of TMX and XLIFF, and what is read of them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from corpora.left_out import LeftOut
from corpora.readers import open_corpus

Unit = Sequence[tuple[str, str]]
Pairs = list[tuple[str, str]]


def tmx(folder: Path, *units: Unit, source: str = "*all*") -> Path:
    texts = (
        "".join(f"<tuv xml:lang={quoteattr(name)}><seg>{escape(text)}</seg></tuv>" for name, text in unit)
        for unit in units
    )
    content = "".join(f"<tu>{text}</tu>\n" for text in texts)
    (folder / "m.tmx").write_text(f'<tmx version="1.4"><header srclang="{source}"/><body>\n{content}</body></tmx>')
    return folder / "m.tmx"


def xliff(folder: Path, *files: tuple[str, str]) -> Path:
    """files: the attributes of each, and what is in its body."""
    content = "".join(f"<file original='a' {values}><body>{body}</body></file>\n" for values, body in files)
    (folder / "m.xlf").write_text(f'<xliff version="1.2">\n{content}</xliff>')
    return folder / "m.xlf"


def unit(source: str, target: str) -> str:
    return f"<trans-unit id='1'><source>{source}</source><target>{target}</target></trans-unit>"


def pairs(path: Path, columns: str = "", **options: bool) -> Pairs:
    source, _, target = columns.partition(",")
    corpus = open_corpus(path, columns=(source, target) if columns else None, **options)
    return [(one.decode(), other.decode()) for _, one, other in corpus.texts()]


@contextmanager
def left_out() -> Iterator[Counter[str]]:
    """What is told within, by reason."""
    counts = Counter[str]()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LeftOut)
        yield counts
    for warning in told:
        assert isinstance(warning.message, LeftOut)
        counts.update(warning.message.counts)
