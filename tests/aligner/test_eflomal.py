"""The interface of eflomal: its signatures, its files, and links that are those of the command."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from pathlib import Path

import pytest

import aligner.eflomal as eflomal
from aligner.errors import SettingError
from aligner.model.unsupervised import Unsupervised
from corpora.bitext import BitextBuilder
from corpora.errors import CorpusError
from corpora.normalize import Normalizer
from features.translation.priors import read_priors

PAIRS = 16
"""Of the sample, whose links and priors by eflomal 2.0.0 are in tests/priors."""

SIGNATURES = {  # of eflomal 2.0.0
    eflomal.Aligner: "(model=3, score_model=0, n_iterations=None, n_samplers=3, rel_iterations=1.0, null_prior=0.2, "
    "source_prefix_len=0, source_suffix_len=0, target_prefix_len=0, target_suffix_len=0)",
    eflomal.Aligner.align: "(self, src_input, trg_input, links_filename_fwd=None, links_filename_rev=None, "
    "scores_filename_fwd=None, scores_filename_rev=None, priors_input=None, quiet=True, use_gdb=False)",
    eflomal.calculate_priors: "(src_sentences, trg_sentences, fwd_alignments, rev_alignments)",
    eflomal.write_priors: "(priorsf, priors_list, hmmf_priors, hmmr_priors, ferf_priors, ferr_priors)",
}


NORMALIZERS = Normalizer(), Normalizer()


@pytest.fixture(scope="module")
def texts(sample: Path) -> list[list[str]]:
    return [(sample / f"test.{side}").read_text("utf-8").splitlines(keepends=True)[:PAIRS] for side in ("en", "fr")]


@pytest.mark.parametrize("ours", SIGNATURES, ids=lambda ours: ours.__qualname__)
def test_signatures(ours: Callable[..., object]) -> None:
    found = inspect.signature(ours)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found.parameters.values()]
    assert str(inspect.Signature(bare)) == SIGNATURES[ours]


def test_priors_are_those_of_eflomal_to_the_byte(priors: Path, texts: list[list[str]]) -> None:
    links = [(priors / f"eflomal.{way}").read_text().splitlines() for way in ("fwd", "rev")]
    written = io.StringIO()
    eflomal.write_priors(written, *eflomal.calculate_priors(*texts, *links))
    assert written.getvalue() == (priors / "eflomal.priors").read_text("utf-8")
    with pytest.raises(ValueError, match="shorter"):
        eflomal.calculate_priors(*texts, *links[:1], links[1][:-1])
    with pytest.raises(CorpusError, match=r"^alignments:1: "):
        eflomal.calculate_priors(["a"], ["b"], ["0-1"], ["0-0"])


@pytest.mark.parametrize("with_priors", [False, True])
def test_links_are_those_of_both_directions(
    priors: Path, texts: list[list[str]], tmp_path: Path, with_priors: bool
) -> None:
    files = tmp_path / "F", tmp_path / "R"
    lines = (priors / "eflomal.priors").read_text("utf-8").splitlines(keepends=True) if with_priors else None
    for _ in "twice":  # over what is there
        eflomal.Aligner().align(*texts, *files, priors_input=lines)
    pairs = ((source.split(), target.split()) for source, target in zip(*texts, strict=True))
    bitext = BitextBuilder(*NORMALIZERS).add_pairs(pairs).bitext()
    known = read_priors(priors / "eflomal.priors" if with_priors else None, NORMALIZERS)
    for way, file in zip(("forward", "reverse"), files, strict=True):
        assert file.read_bytes() == b"".join(part.lines() for part in Unsupervised(way, priors=known).align(bitext))


def test_priors_turn_links_round(tmp_path: Path) -> None:
    for words, expected in ((("deux", "un"), "0-1 1-0\n"), (("un", "deux"), "0-0 1-1\n")):
        lines = io.StringIO("LEX\tThis\t{}\t30\nLEX\tthat\t{}\t30\n".format(*words))
        eflomal.Aligner().align(["this that"] * 4, ["un deux"] * 4, tmp_path / "F", priors_input=lines)
        assert (tmp_path / "F").read_text() == 4 * expected
    assert not (tmp_path / "R").exists()
    with pytest.raises(CorpusError, match=r"^priors_input:1: "):
        eflomal.Aligner().align(["a"], ["b"], priors_input=["LEX a b 1\n"])


def test_parts_of_words(texts: list[list[str]], tmp_path: Path) -> None:
    """Letters that are not looked at may be any."""
    plain, changed = tmp_path / "P", tmp_path / "C"
    source, target = ([line.split() for line in text] for text in texts)
    eflomal.Aligner(source_prefix_len=3, target_suffix_len=2).align(*texts, plain)
    other = [" ".join(word[:3] + "xyz" * (len(word) > 3) for word in line) for line in source]
    ends = [" ".join("xyz" * (len(word) > 2) + word[-2:] for word in line) for line in target]
    eflomal.Aligner(source_prefix_len=3, target_suffix_len=2).align(other, ends, changed)
    assert plain.read_bytes() == changed.read_bytes()


def test_empty_lines_and_nothing(tmp_path: Path) -> None:
    file = tmp_path / "F"
    eflomal.Aligner().align(["a b\n", "\n", ""], ["x y\n", "z\n", ""], file)
    assert file.read_text().splitlines()[1:] == ["", ""]
    eflomal.Aligner().align([], [], file)
    assert file.read_text() == ""


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        eflomal.Aligner().align(["a", "b"], ["x"], tmp_path / "F")
    assert not (tmp_path / "F").exists()
    for refused in ({"scores_filename_fwd": "S"}, {"scores_filename_rev": "S"}, {"use_gdb": True}):
        with pytest.raises(SettingError):
            eflomal.Aligner().align(["a"], ["x"], **refused)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="prior of NULL"):
        eflomal.Aligner(null_prior=1.5)
    with pytest.warns(UserWarning, match="no effect"):
        eflomal.Aligner(n_samplers=1)
