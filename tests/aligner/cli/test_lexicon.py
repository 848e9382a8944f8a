"""``aligner lexicon``: of a model, of text with links, and of what is neither."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from commands import invoke, refused, run

from aligner.errors import AlignerError
from aligner.model.model import load
from corpora.formats.lexicon import LEXICON_FORMATS

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


def test_a_model_has_the_counts_it_expects(desk: Desk) -> None:
    told = run("lexicon", desk.model, "-o", desk.folder / "L").stderr
    assert told.endswith(f"written to {desk.folder / 'L.tsv'}\n")
    rows = [line.split("\t") for line in (desk.folder / "L.tsv").read_text().splitlines()[1:]]
    found = {(source, target): float(count) for source, target, count, *_ in rows}
    translation = load(desk.model).statistics.translation
    assert translation is not None
    lexicon, words = translation.lexicons["words"], (translation.source_words.words(), translation.target_words.words())
    expected = {}
    for s, word in enumerate(words[0]):
        for cell in range(lexicon.row_offsets[s], lexicon.row_offsets[s + 1]):
            expected[word, words[1][lexicon.targets[cell]]] = float(lexicon.counts[cell, 0])
        expected[word, "NULL"] = float(lexicon.reverse.null[s])
    expected |= {("NULL", word): float(lexicon.forward.null[t]) for t, word in enumerate(words[1])}
    assert found == {pair: float(f"{count:.10g}") for pair, count in expected.items() if count > 0}
    best = {word: max((float(p), t) for s, t, _, p, _ in rows if s == word)[1] for word in ("house", "water")}
    assert best == {"house": "maison", "water": "eau"}


def test_text_beside_its_links_and_apart_from_them(desk: Desk) -> None:
    names = LEXICON_FORMATS["bicleaner"].suffixes
    run("lexicon", desk.text, "--to", "bicleaner", "-o", desk.folder / "A", "-q")
    run("lexicon", desk.source, desk.target, desk.gold, "--to", "bicleaner", "-o", desk.folder / "B", "-q")
    both = [[gzip.decompress((desk.folder / f"{out}.{name}").read_bytes()) for name in names] for out in "AB"]
    assert both[0] == both[1]
    assert both[0][0] != both[0][1]
    assert "file exists" in refused("lexicon", desk.text, "--to", "bicleaner", "-o", desk.folder / "A")


def test_what_has_no_lexicon(desk: Desk) -> None:
    before = desk.contents()
    assert "holds links, not text" in refused("lexicon", desk.gold)
    assert "no such file" in refused("lexicon", desk.folder / "missing.model")
    assert "out of range" in refused("lexicon", desk.target, desk.source, desk.gold, line=6)
    result = invoke("lexicon", desk.source, desk.target)
    assert result.exit_code == 2
    assert "need their links" in result.stderr
    assert desk.contents() == before


@pytest.mark.slow
def test_a_model_of_features_that_need_no_lexicon(desk: Desk) -> None:
    bare = desk.folder / "B"
    run("train", desk.text, "-m", bare, "--set", "families=bias,association", "--set", "cross_validate=0", "-q")
    with pytest.raises(AlignerError, match="no lexicon of words"):
        load(bare).link_counts()
    assert run("align", desk.text, "-m", bare, "--format", "tsv").stdout.startswith("nan\tnan\tnan\t0.")
