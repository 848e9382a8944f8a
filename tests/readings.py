"""What readers give and refuse, tables of cases, and files of TMX and XLIFF."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest

from corpora import AlignerError
from corpora.errors import CorpusError
from corpora.left_out import LeftOut
from corpora.readers import open_corpus

Unit = Sequence[tuple[str, str]]


def cases(table: str) -> list[list[str]]:
    """The cells of each line of a table, between which there is ¦; blanks around cells do not count."""
    return [[cell.strip() for cell in line.split("¦")] for line in table.strip().split("\n")]


@contextmanager
def refuses(message: str, error: type[AlignerError] = CorpusError) -> Iterator[pytest.ExceptionInfo[AlignerError]]:
    """What is done within is refused with this message, in one line of letters that can be seen."""
    with pytest.raises(error, match=message) as caught:
        yield caught
    assert str(caught.value).isprintable()


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


def leaves_out(message: str) -> Any:
    """What is done within tells that it leaves something out."""
    return pytest.warns(LeftOut, match=message)


def pairs(path: Path, columns: str = "", **options: Any) -> list[str]:
    """The texts of a corpus, each as ``source|target``; columns: those of source and target, a comma between them."""
    one, _, other = columns.partition(",")
    corpus = open_corpus(path, columns=(one, other) if columns else None, **options)
    return [f"{source.decode()}|{target.decode()}" for _, source, target in corpus.texts()]


def turned(pairs: Sequence[str]) -> list[str]:
    """With their sides swapped."""
    return ["|".join(pair.split("|")[::-1]) for pair in pairs]


def tmx(folder: Path, *units: str | Unit, source: str = "*all*") -> Path:
    """A unit is its languages and texts, or a word in each language, as in ``en:house de:Haus``."""
    content = ""
    for unit in units:
        texts = [word.partition(":")[::2] for word in unit.split()] if isinstance(unit, str) else unit
        of = "".join(f"<tuv xml:lang={quoteattr(name)}><seg>{escape(text)}</seg></tuv>" for name, text in texts)
        content += f"<tu>{of}</tu>\n"
    (folder / "m.tmx").write_text(f'<tmx version="1.4"><header srclang="{source}"/><body>\n{content}</body></tmx>')
    return folder / "m.tmx"


def xliff(folder: Path, *files: tuple[str, str]) -> Path:
    """files: the attributes of each, and what is in its body."""
    content = "".join(f"<file original='a' {values}><body>{body}</body></file>\n" for values, body in files)
    (folder / "m.xlf").write_text(f'<xliff version="1.2">\n{content}</xliff>')
    return folder / "m.xlf"


def unit(source: str, target: str) -> str:
    return f"<trans-unit id='1'><source>{source}</source><target>{target}</target></trans-unit>"
