"""What a model or text has counted, as priors and lexicons: `--priors`, `priors`, `fast-align` and `lexicon`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import invoke, refused, run, write

from aligner.errors import AlignerError
from aligner.model.model import load
from features.translation.priors import EPSILON, Priors, parse_priors

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


@pytest.fixture
def both(desk: Desk) -> Path:
    """The text as fast_align takes it."""
    return write(desk.folder / "both", *desk.joint(" ||| "))


def parsed(content: bytes) -> Priors:
    return parse_priors(content.splitlines(), "P")


def test_what_a_model_has_counted_is_where_others_begin(desk: Desk) -> None:
    file = desk.folder / "P.gz"
    run("priors", desk.model, "-o", file)
    assert refused("priors", desk.model, "-o", file).startswith(f"{file}: file exists")
    for more in ([], ["--decoding", "union"]):
        plain = run("align", desk.text, "-q", *more).stdout
        assert run("align", desk.text, "-q", *more, "--priors", file).stdout != plain
    counted = parsed(run("priors", desk.model).stdout_bytes)
    assert counted.transposed() == parsed(run("priors", desk.model, "--reverse").stdout_bytes)
    assert counted.links["the", "le"] > 1.0


def test_a_dictionary_is_priors_for_a_text_or_for_any(desk: Desk) -> None:
    entries = write(desk.folder / "entries.tsv", "House\tmaison", "zebra\tzèbre", "dog\tchien\t3")
    texts = write(desk.folder / "s.en", "the houses"), write(desk.folder / "s.fr", "les maisons")
    known = run("priors", entries, *texts)
    expected = {(one, other) for one in ("house", "houses") for other in ("maison", "maisons")}
    assert {*parsed(known.stdout_bytes).links} == expected
    assert "3 entries, 1 of them in the text (1 inflected)" in known.stderr
    every = parsed(run("priors", entries, "-q").stdout_bytes)
    assert every.links == {("house", "maison"): 0.5, ("zebra", "zèbre"): 0.5, ("dog", "chien"): 1.5}
    assert "TEXT has no effect with a model" in run("priors", desk.model, *texts, code=2).stderr


@pytest.mark.parametrize(
    ("option", "lines"),
    [
        ("priors", ["LEX\tthe\tmaison\t50", "LEX\thouse\tle\t50"]),
        ("dictionary", ["the\tmaison\t50", "house ||| le ||| 50"]),
    ],
)
def test_models_begin_with_what_is_known(desk: Desk, option: str, lines: list[str]) -> None:
    file, made = write(desk.folder / "known", *lines), desk.folder / "N"
    given = [desk.source, desk.target, f"--{option}", file]
    plain, found = run("align", *given[:2]), run("align", *given)
    run("train", *given, "-m", made, "-q")
    model = load(made)
    assert model.record[option] in (str(file), [str(file)])
    assert model.statistics.translation is not None
    assert {"the", "house"} <= {*model.statistics.translation.source_words.words()}
    assert run("align", *given[:2], "-m", made, "-q").stdout == found.stdout != plain.stdout
    if option == "dictionary":
        assert f"{file}: lines: 2 entries, 2 of them in the text" in found.stderr
        several = [part for n, line in enumerate(lines) for part in (f"--{option}", write(desk.folder / f"{n}", line))]
        assert run("align", *given[:2], *several, "-q").stdout == found.stdout


@pytest.mark.parametrize(
    ("option", "line", "broken", "what"),
    [
        ("--priors", "LEX\ta\tb\t1", "LEX\ta\tb\t-1", "is no line of priors"),
        ("--dictionary", "a\tb", "a b", "is no entry of a dictionary"),
    ],
)
def test_what_cannot_be_is_refused(desk: Desk, option: str, line: str, broken: str, what: str) -> None:
    file, sound, made = (
        write(desk.folder / "broken", line, broken),
        write(desk.folder / "sound", line),
        desk.folder / "N",
    )
    assert what in refused("align", desk.text, option, file, line=2)
    assert "no such file" in refused("train", desk.source, desk.target, option, desk.folder / "none", "-q")
    assert "is read here" in refused("align", desk.text, option, sound, "-o", sound, "--force")
    for command in (f"align {desk.text} -m {desk.model}", f"train {desk.text} --set families=bias -m {made} -q"):
        assert run(*command.split(), option, file, code=2).stderr.count("\n") == 1
    assert not made.exists()


@pytest.mark.slow
def test_flags_of_fast_align(desk: Desk, both: Path) -> None:
    forward, reverse = desk.folder / "forward", desk.folder / "reverse"
    for _ in "twice":  # tables are written over
        one = run("fast-align", "-i", both, "-dov", "-p", forward)
        other = run("fast-align", "--input", both, "-d", "-o", "-v", "-T", "4", "--reverse", "-p", reverse)
    for way, result, said in (("forward", one, "-d -o -v"), ("reverse", other, "-d -o -v -T")):
        assert result.stderr.startswith(f"{said}: no effect here")
        assert result.stdout == run("align", both, "--decoding", way, "-q").stdout
    quiet = run("fast-align", "-i", both, "-d", "-I", "2", "-q", "0.5", "--quiet")
    assert quiet.stderr == ""
    given = ["--set", "iterations=2", "--set", "null=0.5", "-q"]
    assert quiet.stdout == run("align", both, "--decoding", "forward", *given).stdout != one.stdout
    assert {("the", "le"), ("house", "maison")} <= parsed(forward.read_bytes()).links.keys()
    assert {("le", "the"), ("maison", "house")} <= parsed(reverse.read_bytes()).links.keys()
    assert EPSILON in forward.read_text("utf-8")


def test_lines_that_fast_align_complains_of_have_empty_ones() -> None:
    result = run("fast-align", "-i", "-", stdin=b"a b ||| x y\nc d\n ||| x\na ||| x\n")
    assert [bool(line) for line in result.stdout.split("\n")] == [True, False, False, True, False]
    assert "-:2: no ||| or tab" in result.stderr


@pytest.mark.parametrize("flag", [["-N"], ["-f", "table"], ["-s"]])
def test_flags_without_a_counterpart_are_refused(both: Path, flag: list[str]) -> None:
    result = invoke("fast-align", "-i", both, *flag)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith(flag[0])


def test_flags_of_atools(desk: Desk) -> None:
    """It grows as that of fast_align does, `symmetrize` as Moses does."""
    forward, reverse = write(desk.folder / "F", "0-0 0-1 1-1 3-0 3-1"), write(desk.folder / "R", "1-1 2-1 3-1")
    both = forward, "-j", reverse, "-c"
    for method in ("intersect", "union"):
        expected = run("symmetrize", forward, reverse, "--method", method, "-q").stdout
        assert run("atools", "-i", *both, method).stdout == expected
    assert run("atools", "-i", *both, "grow-diag").stdout == "0-0 1-1 2-1 3-1\n"
    assert run("symmetrize", forward, reverse, "--method", "grow-diag", "-q").stdout == "0-0 0-1 1-1 2-1 3-1\n"
    assert run("atools", "-i", reverse, "-c", "convert").stdout == reverse.read_text()
    turned = run("atools", "-i", reverse, "-c", "invert").stdout
    assert turned == "1-1 1-2 1-3\n"
    assert run("atools", "-i", "-", "-c", "invert", stdin=turned.encode()).stdout == reverse.read_text()


def test_a_model_has_the_counts_it_expects(desk: Desk) -> None:
    told = run("lexicon", desk.model, "-o", desk.folder / "L").stderr
    assert told.endswith(f"written to {desk.folder / 'L.tsv'}\n")
    rows = [line.split("\t") for line in (desk.folder / "L.tsv").read_text().splitlines()[1:]]
    translation = load(desk.model).statistics.translation
    assert translation is not None
    lexicon, sources, targets = (
        translation.lexicons["words"], translation.source_words.words(), translation.target_words.words(),
    )  # fmt: skip
    expected = {("NULL", word): float(lexicon.forward.null[t]) for t, word in enumerate(targets)}
    for s, word in enumerate(sources):
        expected[word, "NULL"] = float(lexicon.reverse.null[s])
        for cell in range(lexicon.row_offsets[s], lexicon.row_offsets[s + 1]):
            expected[word, targets[lexicon.targets[cell]]] = float(lexicon.counts[cell, 0])
    assert {(source, target): float(count) for source, target, count, *_ in rows} == {
        pair: float(f"{count:.10g}") for pair, count in expected.items() if count > 0
    }
    best = {word: max((float(p), t) for s, t, _, p, _ in rows if s == word)[1] for word in ("house", "water")}
    assert best == {"house": "maison", "water": "eau"}


def test_what_has_no_lexicon(desk: Desk) -> None:
    before = desk.contents()
    assert "holds links, not text" in refused("lexicon", desk.gold)
    assert "no such file" in refused("lexicon", desk.folder / "missing.model")
    assert "out of range" in refused("lexicon", desk.target, desk.source, desk.gold, line=6)
    assert "need their links" in run("lexicon", desk.source, desk.target, code=2).stderr
    assert desk.contents() == before


@pytest.mark.slow
def test_a_model_of_features_that_need_no_lexicon(desk: Desk) -> None:
    bare = desk.folder / "B"
    run("train", desk.text, "-m", bare, "--set", "families=bias,association", "--set", "cross_validate=0", "-q")
    with pytest.raises(AlignerError, match="no lexicon of words"):
        load(bare).link_counts()
    assert run("align", desk.text, "-m", bare, "--format", "tsv").stdout.startswith("nan\tnan\tnan\t0.")
