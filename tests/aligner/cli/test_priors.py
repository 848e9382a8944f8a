"""What a model or text has counted, as priors and lexicons: `--priors`, `priors`, `fast-align` and `lexicon`."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import invoke, refused, run, write

from aligner.errors import AlignerError
from aligner.model.model import load
from corpora.formats.lexicon import LEXICON_FORMATS
from corpora.link_files import read_links
from features.translation.priors import EPSILON, parse_priors

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


@pytest.fixture
def both(desk: Desk) -> Path:
    """The text as fast_align takes it."""
    texts = (path.read_text("utf-8").splitlines() for path in (desk.source, desk.target))
    return write(desk.folder / "both", *(" ||| ".join(pair) for pair in zip(*texts, strict=True)))


@pytest.mark.slow
def test_what_a_model_has_counted_is_where_others_begin(desk: Desk, priors: Path) -> None:
    file = desk.folder / "P.gz"
    run("priors", desk.model, "-o", file)
    assert refused("priors", desk.model, "-o", file).startswith(f"{file}: file exists")
    plain, known, others = (
        run("align", desk.text, "-q", *more).stdout
        for more in ((), ("--priors", file), ("--priors", priors / "fast_align.table"))
    )
    assert len({plain, known, others}) == 3
    bare = run("align", desk.text, "-q", "--decoding", "union", "--priors", priors / "eflomal.priors").stdout
    assert bare != run("align", desk.text, "-q", "--decoding", "union").stdout
    counted = parse_priors(run("priors", desk.model).stdout_bytes.splitlines(), "P")
    reverse = parse_priors(run("priors", desk.model, "--reverse").stdout_bytes.splitlines(), "P")
    assert counted.transposed() == reverse
    assert counted.links["the", "le"] > 1.0


def test_a_dictionary_is_priors_for_a_text_or_for_any(desk: Desk) -> None:
    entries = write(desk.folder / "entries.tsv", "House\tmaison", "zebra\tzèbre", "dog\tchien\t3")
    source, target = write(desk.folder / "s.en", "the houses"), write(desk.folder / "s.fr", "les maisons")
    known = run("priors", entries, source, target)
    assert {*parse_priors(known.stdout_bytes.splitlines(), "P").links} == {
        *(("house", one) for one in ("maison", "maisons")),
        *(("houses", one) for one in ("maison", "maisons")),
    }
    assert "3 entries, 1 of them in the text (1 inflected)" in known.stderr
    every = parse_priors(run("priors", entries, "-q").stdout_bytes.splitlines(), "P")
    assert every.links == {("house", "maison"): 0.5, ("zebra", "zèbre"): 0.5, ("dog", "chien"): 1.5}
    result = invoke("priors", desk.model, source, target)
    assert (result.exit_code, "TEXT has no effect with a model" in result.output) == (2, True)


@pytest.mark.slow
def test_models_begin_with_priors(desk: Desk, priors: Path) -> None:
    made = desk.folder / "N"
    run("train", desk.source, desk.target, "-m", made, "--priors", priors / "eflomal.priors", "-q")
    model = load(made)
    assert model.record["priors"] == str(priors / "eflomal.priors")
    assert model.statistics.translation is not None
    words = model.statistics.source_words.words()
    assert words == model.statistics.translation.source_words.words()
    alone = desk.folder / "A"
    run("train", desk.source, desk.target, "-m", alone, "-q")
    first = load(alone).statistics.translation
    assert first is not None
    assert model.statistics.translation.source_counts.sum() > first.source_counts.sum()
    assert run("align", desk.text, "-m", made, "-q").stdout != run("align", desk.text, "-m", alone, "-q").stdout


@pytest.mark.parametrize(
    ("option", "line", "broken"), [("--priors", "LEX\ta\tb\t1", "LEX\ta\tb\t-1"), ("--dictionary", "a\tb", "a b")]
)
def test_what_cannot_be_is_refused(desk: Desk, option: str, line: str, broken: str) -> None:
    file, sound = write(desk.folder / "broken", line, broken), write(desk.folder / "sound", line)
    words = {"--priors": "is no line of priors", "--dictionary": "is no entry of a dictionary"}[option]
    assert words in refused("align", desk.text, option, file, line=2)
    assert "no such file" in refused("train", desk.source, desk.target, option, desk.folder / "none", "-q")
    assert "is read here" in refused("align", desk.text, option, sound, "-o", sound, "--force")
    made = desk.folder / "N"
    for command in (f"align {desk.text} -m {desk.model}", f"train {desk.text} --set families=bias -m {made} -q"):
        result = invoke(*command.split(), option, file)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert not made.exists()


def test_a_dictionary_is_where_training_begins(desk: Desk) -> None:
    entries = write(desk.folder / "entries", "the\tmaison\t50", "house ||| le ||| 50")
    plain = run("align", desk.text, "-q").stdout
    found = run("align", desk.text, "--dictionary", entries)
    assert found.stdout != plain
    assert f"{entries}: lines: 2 entries, 2 of them in the text" in found.stderr
    one = [
        write(desk.folder / f"entry.{number}", line) for number, line in enumerate(("the\tmaison\t50", "house\tle\t50"))
    ]
    assert run("align", desk.text, "-q", "--dictionary", one[0], "--dictionary", one[1]).stdout == found.stdout
    made = desk.folder / "N"
    run("train", desk.source, desk.target, "-m", made, "--dictionary", entries, "-q")
    model = load(made)
    assert model.record["dictionary"] == [str(entries)]
    assert model.statistics.translation is not None
    assert {"the", "house"} <= {*model.statistics.translation.source_words.words()}


@pytest.mark.slow
def test_flags_of_fast_align(desk: Desk, both: Path) -> None:
    tables = desk.folder / "forward", desk.folder / "reverse"
    for _ in "twice":  # tables are written over
        found = [run("fast-align", "-i", both, "-dov", "-p", tables[0])]
        found.append(run("fast-align", "--input", both, "-d", "-o", "-v", "-T", "4", "--reverse", "-p", tables[1]))
    assert found[0].stderr.startswith("-d -o -v: no effect here")
    assert found[1].stderr.startswith("-d -o -v -T: no effect here")
    for way, result in zip(("forward", "reverse"), found, strict=True):
        assert result.stdout == run("align", both, "--decoding", way, "-q").stdout
    settings = "-I", "2", "-q", "0.5", "--quiet"
    quiet = run("fast-align", "-i", both, "-d", *settings)
    assert quiet.stderr == ""
    expected = run("align", both, "--decoding", "forward", "--set", "iterations=2", "--set", "null=0.5", "-q").stdout
    assert quiet.stdout == expected != found[0].stdout
    forward, reverse = (parse_priors(table.read_bytes().splitlines(), "T").links for table in tables)
    assert {("the", "le"), ("house", "maison")} <= {*forward}
    assert {("le", "the"), ("maison", "house")} <= {*reverse}
    assert EPSILON in tables[0].read_text("utf-8")
    assert len(read_links(write(desk.folder / "links", *expected.splitlines()))) == desk.n_pairs


def test_flags_of_atools(desk: Desk) -> None:
    forward, reverse = desk.gold, desk.folder / "R"
    run("align", desk.text, "--decoding", "union", "-o", reverse)
    for method in ("intersect", "union"):
        expected = run("symmetrize", forward, reverse, "--method", method, "-q").stdout
        assert run("atools", "-i", forward, "-j", reverse, "-c", method).stdout == expected
    assert run("atools", "-i", reverse, "-c", "convert").stdout == reverse.read_text()
    turned = run("atools", "-i", reverse, "-c", "invert").stdout
    assert turned == run("convert", reverse, "-", "--to", "pharaoh", "--transpose").stdout
    assert run("atools", "-i", "-", "-c", "invert", stdin=turned.encode()).stdout == reverse.read_text()


def test_atools_grows_as_that_of_fast_align(tmp_path: Path) -> None:
    forward, reverse = write(tmp_path / "F", "0-0 0-1 1-1 3-0 3-1"), write(tmp_path / "R", "1-1 2-1 3-1")
    assert run("atools", "-i", forward, "-j", reverse, "-c", "grow-diag").stdout == "0-0 1-1 2-1 3-1\n"
    assert run("symmetrize", forward, reverse, "--method", "grow-diag", "-q").stdout == "0-0 0-1 1-1 2-1 3-1\n"


def test_lines_that_fast_align_complains_of_have_empty_ones(desk: Desk) -> None:
    result = run("fast-align", "-i", "-", stdin=b"a b ||| x y\nc d\n ||| x\na ||| x\n")
    assert [bool(line) for line in result.stdout.split("\n")] == [True, False, False, True, False]
    assert "-:2: no ||| or tab" in result.stderr


@pytest.mark.parametrize("flag", [["-N"], ["-f", "table"], ["-s"]])
def test_flags_without_a_counterpart_are_refused(both: Path, flag: list[str]) -> None:
    result = invoke("fast-align", "-i", both, *flag)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(flag[0])
    assert result.stderr.count("\n") == 1


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
