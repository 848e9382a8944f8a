"""The interface of eflomal: its signatures, its files, and links that are those of the command."""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
import pytest

import aligner.eflomal as eflomal
from aligner.errors import SettingError
from aligner.model.aligning import Part, align
from aligner.model.unsupervised import ByPosteriors, estimate
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


def written_priors(*given: list[str]) -> str:
    written = io.StringIO()
    eflomal.write_priors(written, *eflomal.calculate_priors(*given))
    return written.getvalue()


def test_priors_are_those_of_eflomal_to_the_byte(priors: Path, texts: list[list[str]]) -> None:
    """Also of links that are there twice, in any order; recorded from eflomal 2.0.0."""
    links = [(priors / f"eflomal.{way}").read_text().splitlines() for way in ("fwd", "rev")]
    assert written_priors(*texts, *links) == (priors / "eflomal.priors").read_text("utf-8")
    for row in (priors / "repeated.jsonl").read_text().splitlines():
        *lines, answer = json.loads(row)
        assert written_priors(*([line] for line in lines)) == answer, lines
    with pytest.raises(ValueError, match="ends before line"):
        eflomal.calculate_priors(*texts, *links[:1], links[1][:-1])
    with pytest.raises(CorpusError, match=r"^alignments:1: "):
        eflomal.calculate_priors(["a"], ["b"], ["0-1"], ["0-0"])


def test_parts_of_words(priors: Path, texts: list[list[str]], tmp_path: Path) -> None:
    """Letters that are not looked at may be any; priors are cut as the text is, and their counts added."""
    known = [*(priors / "eflomal.priors").read_text("utf-8").splitlines(), "LEX\t<NULL>\tmaison\t4"]  # NULL is no word

    def links(name: str, source: list[str], target: list[str], given: list[str] | None = None, **parts: int) -> bytes:
        eflomal.Aligner(**parts).align(source, target, tmp_path / name, priors_input=given)  # type: ignore[arg-type]
        return (tmp_path / name).read_bytes()

    def short(words: str) -> str:
        return " ".join(word[:3] for word in words.split())

    def changed(words: str) -> str:
        return " ".join(word[:3] + "xyz" * (len(word) > 3) for word in words.split())

    cut = [
        "\t".join(f if f in ("LEX", "<NULL>") else short(f) for f in line.split("\t"))
        for line in known
        if line.startswith("LEX")
    ]
    cut += [line for line in known if line.startswith("HMM")]
    thirds = {"source_prefix_len": 3, "target_prefix_len": 3}
    whole = links("whole", *texts, known, **thirds)
    assert links("cut", *[[short(line) for line in side] for side in texts], cut) == whole
    assert links("other", *texts, **thirds) != whole
    assert links("changed", *[[changed(line) for line in side] for side in texts], known, **thirds) == whole
    ends = [" ".join("xyz" * (len(word) > 2) + word[-2:] for word in line.split()) for line in texts[1]]
    assert links("ends", texts[0], ends, target_suffix_len=2) == links("plain", *texts, target_suffix_len=2)


@pytest.mark.parametrize(
    ("links", "jumps"),
    [("0-0 3-0", {1: 2}), ("0-0 1-0 3-0 2-1", {1: 1, -1: 1, 2: 1}), ("1-1 2-1 0-0", {1: 2, 2: 1}), ("", {5: 1})],
)
def test_jumps_within_a_word_are_not_counted(links: str, jumps: dict[int, int]) -> None:
    """As eflomal counts them where the files of both directions are exchanged, in either direction."""
    turned = " ".join(link[::-1] for link in links.split())
    assert eflomal.calculate_priors(["a b c d"], ["x y"], [links], [""])[1] == jumps
    assert eflomal.calculate_priors(["x y"], ["a b c d"], [""], [turned])[2] == jumps


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
    known = read_priors(priors / "eflomal.priors" if with_priors else None, [], NORMALIZERS, bitext)
    for way, file in zip(("forward", "reverse"), files, strict=True):
        assert file.read_bytes() == b"".join(
            found.lines() for _, found in align([Part(bitext)], ByPosteriors(estimate(bitext, priors=known), way))
        )


@pytest.mark.parametrize(
    "argument", ["links_filename_fwd", "links_filename_rev", "scores_filename_fwd", "scores_filename_rev"]
)
def test_files_that_the_caller_holds_open_show_what_is_written(texts: list[list[str]], argument: str) -> None:
    with NamedTemporaryFile("w+") as file:
        file.write("x" * 100_000)  # longer than what is written
        file.seek(0)
        eflomal.Aligner().align(*texts, **{argument: file.name})  # type: ignore[arg-type]
        assert file.read() == Path(file.name).read_text()
        file.seek(0)
        assert len(file.readlines()) == PAIRS


def test_tokens_for_spaces_are_left_out(texts: list[list[str]], tmp_path: Path) -> None:
    """Links are those of the text without them, and count them."""
    spaced = [[" \u2581 ".join(line.split()) for line in side] for side in texts]
    spaced[0][3] = f"\u2581 {spaced[0][3]} \u2581"
    found = []
    for number, text in enumerate((texts, spaced)):
        files = tmp_path / f"links{number}", tmp_path / f"scores{number}"
        eflomal.Aligner().align(*text, files[0], scores_filename_rev=files[1])
        found.append([file.read_text().splitlines() for file in files])
    (plain, scores), (counted, same) = found
    assert scores == same
    for number, (line, other) in enumerate(zip(plain, counted, strict=True)):
        links = [tuple(map(int, link.split("-"))) for link in line.split()]
        assert other == " ".join(f"{2 * j + (number == 3)}-{2 * k}" for j, k in links)


def test_progress_is_shown_unless_it_is_quiet(
    texts: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aligner.progress.FIRST_LINE", 0.0)
    monkeypatch.setattr("aligner.progress.NEXT_LINE", 1e-3)
    for quiet in (True, False):
        eflomal.Aligner().align(*texts, tmp_path / "F", quiet=quiet)
        found = capsys.readouterr()
        assert (found.out, "translation: " in found.err) == ("", not quiet)


def test_scores_are_lower_where_sides_translate_each_other(sample: Path, tmp_path: Path) -> None:
    """Scores of half a target: forward does not miss the other half, as the target is what is explained."""
    source, target = ((sample / f"test.{side}").read_text("utf-8").splitlines() for side in ("en", "fr"))
    good, half = len(source), [" ".join(line.split()[: max(len(line.split()) // 2, 1)]) for line in target[:10]]
    files = tmp_path / "F", tmp_path / "R"
    texts = [*source, *source, *source[:10], "", "a b", ""], [*target, *target[7:], *target[:7], *half, "", "", "a b"]
    eflomal.Aligner().align(*texts, scores_filename_fwd=files[0], scores_filename_rev=files[1])
    scores = np.array([np.loadtxt(file) for file in files])
    assert scores.shape == (2, len(texts[0]))
    assert (scores[:, :good] < 0).all(axis=0).mean() > 0.95
    assert (scores[:, :good].mean(axis=1) < scores[:, good : 2 * good].mean(axis=1) - 1.0).all()
    change = scores[:, -13:-3] - scores[:, :10]
    assert change[1].mean() > change[0].mean() + 0.3
    assert (scores[:, -3:] == 0).all()


def test_priors_turn_links_round(tmp_path: Path) -> None:
    for words, expected in ((("deux", "un"), "0-1 1-0\n"), (("un", "deux"), "0-0 1-1\n")):
        lines = io.StringIO("LEX\tThis\t{}\t30\nLEX\tthat\t{}\t30\n".format(*words))
        eflomal.Aligner().align(["this that"] * 4, ["un deux"] * 4, tmp_path / "F", priors_input=lines)
        assert (tmp_path / "F").read_text() == 4 * expected
    assert not (tmp_path / "R").exists()
    with pytest.raises(CorpusError, match=r"^priors_input:1: "):
        eflomal.Aligner().align(["a"], ["b"], priors_input=["LEX a b 1\n"])


def test_empty_lines_and_what_cannot_be(tmp_path: Path) -> None:
    file, kept = tmp_path / "F", tmp_path / "S"
    eflomal.Aligner().align(["a b\n", "\n", ""], ["x y\n", "z\n", ""], file)
    assert file.read_text().splitlines()[1:] == ["", ""]
    eflomal.Aligner().align([], [], file)
    assert file.read_text() == ""
    file.unlink()
    kept.write_text("kept")
    with pytest.raises(ValueError, match="ends before line"):
        eflomal.Aligner().align(["a", "b"], ["x"], file, scores_filename_fwd=kept)
    assert ([*tmp_path.iterdir()], kept.read_text()) == ([kept], "kept")
    with pytest.raises(CorpusError, match="folder"):
        eflomal.Aligner().align(["a"], ["x"], scores_filename_fwd=tmp_path / "none" / "S")
    with pytest.raises(TypeError, match="not a name"):
        eflomal.Aligner().align("test.en", ["a"])
    with pytest.raises(SettingError, match="gdb"):
        eflomal.Aligner().align(["a"], ["x"], use_gdb=True)
    with pytest.raises(SettingError, match="`null` must be"):
        eflomal.Aligner(null_prior=1.5)
    with pytest.warns(UserWarning, match="no effect"):
        eflomal.Aligner(n_samplers=1)


@pytest.mark.nightly
def test_opusfilters_own_tests_pass_with_ours_in_place_of_eflomal(tmp_path: Path) -> None:
    """Its tests of word alignment, of the index or of the file that ALIGNER_OPUSFILTER_TESTS names."""
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    root = Path(eflomal.__file__).parents[1]
    installed = subprocess.run([*pip, "install", "opusfilter", "pytest", root], capture_output=True, text=True)
    if installed.returncode != 0:
        pytest.skip(f"OpusFilter cannot be installed: {installed.stderr[-500:]}")
    tests = os.environ.get("ALIGNER_OPUSFILTER_TESTS")
    if tests is None:
        source = [*pip, "download", "--no-deps", "--no-binary", "opusfilter", "--dest", tmp_path, "opusfilter"]
        subprocess.run(source, check=True, capture_output=True)
        with tarfile.open(next(tmp_path.glob("opusfilter-*.tar.gz"))) as archive:
            archive.extractall(tmp_path, filter="data")
        tests = next(map(str, tmp_path.glob("opusfilter-*/tests/test_wordalign_filter.py")), None)
        if tests is None:
            pytest.skip("OpusFilter's tests are not in its sdist (name the file in ALIGNER_OPUSFILTER_TESTS)")
    (tmp_path / "shim").mkdir()
    (tmp_path / "shim" / "eflomal.py").write_text("from aligner.eflomal import *\n")
    command = [python, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider", tests]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "shim")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^(?!.*(failed|skipped)).*\b(9|\d\d) passed", done.stdout.splitlines()[-1]), done.stdout
