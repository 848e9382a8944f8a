"""Every option of every command changes what comes out, or is refused in one line where it would not.

A new option needs an entry in CHANGES, or a reason in MACHINE: `test_every_option_has_an_entry` looks.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from commands import COMMANDS, invoke, run, write

import aligner
from aligner.cli.messages import settings_of
from corpora.errors import CorpusError

MACHINE = frozenset("threads memory cluster max_seconds seconds debug force quiet verbose help_all resume port".split())
"""Of how, where and how long the machine works, what it says meanwhile, and what it may replace or turn away."""

EXEMPT = {
    "fast-align": frozenset("diagonal tension bayes first_tension alpha length_ratio buffer".split()),
    "serve": frozenset("host allowed_host body pairs words length queue".split()),
}
"""Taken with a line that says that they do nothing; and limits of requests, for the tests of the page."""

ALIGN, WITH_MODEL, JUDGE = "align t.en t.fr -o Z -q", "align t.en t.fr -m M -o Z -q", "evaluate t.wa l.wa"
TRAIN, HINGE = "train b -m Z -q --set cross_validate=0", "train b -m Z -q --set loss=hinge --set max_passes=5"
FAST, CONVERT, REPORT = "fast-align -i t.both --quiet", "convert t.wa Z -q --to pharaoh", "report t.en t.fr l.wa -q"
KEPT = "train b -m Z -q"
PROJECT, TAGS = "project labels t.fr t.wa -q", "project tags t.fr l.wa --markup html -q"
OWN_TAGS = "project tags t.fr --markup html -q"
TERMS = "terms b.en b.fr b.wa -q --least 1"
RAW, LINKED = "raw.en raw.fr -o Z -q", "raw.en raw.fr raw.wa -o Z.tsv -q"
INFO, ATOOLS = "info M -q", "atools -i l.wa -j t.wa -c intersect"


def of_reading(line: str, prefix: str) -> dict[str, tuple[str, str]]:
    """The options of how a corpus is read.  line: with {} for the corpus."""
    return {
        "columns": (line.format(f"{prefix}.tabs"), "--columns 3,1"),
        "source": (line.format(prefix), "--source fr"),
        "target": (line.format(prefix), "--target en"),
        "untranslated": (line.format(f"{prefix}.xlf"), "--untranslated"),
    }


CHANGES: dict[str, dict[str, tuple[str, str]]] = {
    "train": {
        "gold": (TRAIN, "--gold t"), **of_reading("train {} -m Z -q", "t"),
        "sample": (TRAIN, "--sample 9"), "max_labelled": (TRAIN, "--set max_labelled=9"),
        "max_length": ("train t.en t.fr -m Z -q", "--max-length 6"),
        "skip_bad": ("train bad.en t.fr -m Z -q", "--skip-bad"), "links": (TRAIN, "--links b.wa"),
        "families": (TRAIN, "--set families=association"), "candidates": (TRAIN, "--set candidates=all"),
        "words": (TRAIN, "--set words=2"), "priors": (TRAIN, "--priors priors"),
        "dictionary": (TRAIN, "--dictionary entries"),
        "update": ("train t.en t.fr -m Z -q", "--update M"), "statistics": (TRAIN, "--statistics M"),
        "case_fold": (TRAIN, "--no-case-fold"),
        "tokenize": (TRAIN, "--tokenize"), "keep": ("train raw.en raw.fr -m Z -q --tokenize", "--keep '"),
        "fine": ("train raw.en raw.fr -m Z -q --tokenize", "--fine"),
        "stem": (TRAIN, "--stem"), "loss": (TRAIN, "--set loss=hinge"),
        "regularization": (TRAIN, "--set regularization=1"), "center": (TRAIN, "--set center=zero"),
        "cross_validate": (TRAIN.replace(" 0", " 3"), "--cross-validate 2"),
        "fertility": (TRAIN, "--set fertility=1"), "miss_cost": (TRAIN, "--set miss_cost=2"),
        "false_cost": (TRAIN, "--set false_cost=1"), "possible_cost": (HINGE, "--set possible_cost=0"),
        "solver": (HINGE, "--set solver=bcfw-gap"),
        "solver_options": (HINGE, "--set solver_options.average=weighted"),
        "oracle": (HINGE, "--set oracle=greedy --set fertility=1"), "tolerance": (TRAIN, "--set tolerance=0.5"),
        "absolute_tolerance": (TRAIN, "--set absolute_tolerance=9"), "weights": (KEPT, "--set weights=learnt"),
        "max_passes": (TRAIN, "--set max_passes=1"), "seed": (TRAIN, "--set seed=1"), "model": (TRAIN, "-m Y"),
        "apart": (TRAIN, "--set apart=9"), "trace": (TRAIN, "--trace Y"),
        "strict": (f"{TRAIN} --set max_passes=1 --set tolerance=0", "--strict"),
    },
    "align": {
        "model": (ALIGN, "-m M"), "path": (ALIGN, "-o Y"), "format": (ALIGN, "--format tsv"),
        "links": (ALIGN, "--links neural=t.wa"), "offset": (WITH_MODEL, "--offset 2"),
        "risk": (WITH_MODEL, "--risk 0.1"),
        "candidates": (f"{WITH_MODEL} --offset 900", "--set candidates=all"),
        **of_reading("align {} -o Z -q", "t"), "remap": (WITH_MODEL, "--remap pieces"),
        "shard": (WITH_MODEL, "--shard 1/2"), "max_length": (WITH_MODEL, "--max-length 6"),
        "long_pairs": (f"{WITH_MODEL} --max-length 6", "--set long_pairs=drop"),
        "skip_bad": ("align bad.en t.fr -m M -o Z -q", "--skip-bad"), "unsupervised": (ALIGN, "--unsupervised"),
        "priors": (ALIGN, "--priors priors --format tsv"),
        "dictionary": (ALIGN, "--dictionary entries --format tsv"), "sample": (ALIGN, "--sample 5"),
        "seed": (f"{ALIGN} --sample 5", "--set seed=1"), "decoding": (ALIGN, "--decoding union"),
        "directions": (ALIGN, "--directions Y"), "stem": (ALIGN, "--stem"), "tokenize": (f"align {RAW}", "--tokenize"),
        "keep": (f"align {RAW} --tokenize", "--keep '"),
        "null": (f"{ALIGN} --unsupervised", "--set null=0.9"),
        "iterations": (f"{ALIGN} --format tsv", "--set iterations=3"),
    },
    "evaluate": {
        **of_reading("evaluate t.wa l.wa --text {}", "t"),
        "text": (JUDGE, "--text t"), "base": (JUDGE, "--base 1"), "all_pairs": (f"{JUDGE} t.wa", "--all-pairs"),
        "risk": (JUDGE, "--risk 0.1"),
        "confidence": (JUDGE, "--confidence 50"), "resamples": (JUDGE, "--resamples 10"), "seed": (JUDGE, "--seed 1"),
        "format": (JUDGE, "--format json"),
    },
    "show": {
        **of_reading("show {} l.wa", "t"),
        "gold": ("show t.en t.fr l.wa", "--gold t.wa"), "number": ("show t.en t.fr l.wa", "-n 1"),
        "first": ("show t.en t.fr l.wa", "--from 2"), "tokenize": ("show raw.en raw.fr raw.wa", "--tokenize"),
        "keep": ("show raw.en raw.fr raw.wa --tokenize", "--keep '"),
    },
    "report": {
        **of_reading("report {} l.wa -q -o Z", "t"),
        "gold": (f"{REPORT} -o Z", "--gold t.wa"), "model": (f"{REPORT} -o Z", "--model M"),
        "confidence": (f"{REPORT} --gold t.wa --format csv", "--confidence 50"),
        "resamples": (f"{REPORT} --gold t.wa --format csv", "--resamples 10"),
        "seed": (f"{REPORT} --gold t.wa --format csv", "--seed 1"), "format": (f"{REPORT} --gold t.wa", "--format csv"),
        "output": (f"{REPORT} --gold t.wa", "-o Y"),
        "tokenize": (f"report {LINKED}", "--tokenize"), "keep": (f"report {LINKED} --tokenize", "--keep '"),
    },
    "info": {
        "features": (INFO, "--features"), "source": (f"{INFO} t", "--source fr"),
        "target": (f"{INFO} t", "--target en"),
        "links": (f"{INFO} t", "--links t.wa"), "format": (INFO, "--format json"),
        "columns": ("info terms t.tabs", "--columns 3,1"), "tokenize": ("info terms raw.en raw.fr", "--tokenize"),
        "keep": ("info terms raw.en raw.fr --tokenize", "--keep '"),
    },
    "score": {
        "model": ("score t.en t.fr l.wa -m M -q", "-m nowhere"), "output": ("score t.en t.fr l.wa -m M -q", "-o Y"),
        "format": ("score t.en t.fr l.wa -m M -q", "--format scored"),
        **of_reading("score {} -q", "t"), "tokenize": (f"score {RAW}", "--tokenize"),
        "dictionary": ("score t.en t.fr -q", "--dictionary entries"),
        "keep": (f"score {RAW} --tokenize", "--keep '"),
    },
    "lexicon": {
        **of_reading("lexicon {} l.wa -q -o Z", "t"),
        "to": ("lexicon t.en t.fr l.wa -q -o Z", "--to moses"), "best": ("lexicon t.en t.fr l.wa -q -o Z", "--best 1"),
        "output": ("lexicon t.en t.fr l.wa -q -o Z", "-o Y"),
        "tokenize": (f"lexicon {LINKED}", "--tokenize"), "keep": (f"lexicon {LINKED} --tokenize", "--keep '"),
    },
    "terms": {
        "model": ("terms t.en t.fr -q --least 2", "-m nowhere"),
        "dictionary": ("terms t.en t.fr -q --least 2", "--dictionary nowhere"),
        **of_reading("terms {} l.wa -q --least 1", "t"),
        "check": (TERMS, "--check entries"), "least": (TERMS, "--least 2"), "longest": (TERMS, "--longest 1"),
        "tokenize": (TERMS, "--tokenize"), "keep": (f"terms {LINKED} --check entries --tokenize", "--keep '"),
        "stop": (TERMS, "--stop b.en"), "output": (TERMS, "-o Y.csv"),
    },
    "project": {
        **of_reading("project labels {} l.wa -q", "t"), "gold": (PROJECT, "--gold gold"), "output": (PROJECT, "-o Y"),
        "markup": (PROJECT, "--markup html"), "unsure": (TAGS, "--unsure Y.tsv"),
        "corrected": (TAGS, "--corrected moved"), "examples": (TAGS, "--examples memory"),
        "model": (OWN_TAGS, "-m nowhere"), "dictionary": (OWN_TAGS, "--dictionary nowhere"),
        "skip_bad": ("project bad.en t.fr l.wa --markup html -q", "--skip-bad"),
    },
    "convert": {
        "to": (CONVERT, "--to talp"), "from": (CONVERT, "--from naacl"), "text": (CONVERT, "--text nowhere"),
        "transpose": (CONVERT, "--transpose"), **of_reading("convert {} Z Y -q", "t"),
    },
    "symmetrize": {
        "method": ("symmetrize t.wa l.wa", "--method intersection"), "output": ("symmetrize t.wa l.wa", "-o Y"),
        "transpose_reverse": ("symmetrize t.wa l.wa", "--transpose-reverse"),
    },
    "combine": {
        **of_reading("combine t.wa l.wa --text {}", "t"),
        "text": ("combine t.wa l.wa", "--text b"), "output": ("combine t.wa l.wa", "-o Y"),
    },
    "priors": {
        "source": ("priors entries t", "--source fr"), "target": ("priors entries t", "--target en"),
        "to": ("priors M", "--to fast-align"), "reverse": ("priors M", "--reverse"), "output": ("priors M", "-o Y"),
    },
    "fast-align": {
        "text": (FAST, "-i b.both"), "reverse": (FAST, "-r"), "table": (FAST, "-p Z"),
        "beam": (f"{FAST} -p Z", "-t -0"),
        "iterations": (f"{FAST} -p Z", "-I 3"), "p0": (FAST, "-q 0.9"), "no_null": (FAST, "-N"),
        "force_align": (FAST, "-f x"), "scores": (FAST, "-s"),
    },
    "atools": {
        "forward": (ATOOLS, "-i t.wa"), "command": (ATOOLS, "-c union"),
        "reverse": ("atools -i t.wa -c invert", "-j l.wa -c union"),
    },
    "serve": {"model": ("serve -m nowhere", "-m t.en")},
    "annotate": {
        "output": ("annotate t.en nowhere -o Z", "-o Y"), "model": ("annotate t.en t.fr -o Z -m nowhere", "-m t.en"),
        "order": ("annotate t.en nowhere -o Z --seed 1", "--order given"),
        "columns": ("annotate t.en nowhere -o Z", "--columns 1,2"),
        "untranslated": ("annotate t.en nowhere -o Z", "--untranslated"),
        "source": ("annotate nowhere -o Z --target fr", "--source fr"),
        "target": ("annotate nowhere -o Z --source fr", "--target fr"),
        "tokenize": ("annotate t.en nowhere -o Z -m M", "--tokenize"),
        "keep": ("annotate t.en t.fr -o Z -m nowhere", "--keep a"),
        "stem": ("annotate t.en t.fr -o Z -m nowhere", "--stem"),
        "dictionary": ("annotate t.en t.fr -o Z -m nowhere", "--dictionary entries"),
        "number": ("annotate t.en nowhere -o Z", "-n 0"),
        "seed": ("annotate t.en nowhere -o Z --order given", "--seed 1"),
        "annotator": ("annotate t.en nowhere -o Z", "--annotator x"),
    },
    "calibrate": {
        "output": ("calibrate M t -o Z -q", "-o Y"), "source": ("calibrate M t -o Z -q", "--source fr"),
        "target": ("calibrate M t -o Z -q", "--target en"), "links": ("calibrate M t -o Z -q", "--links t.wa"),
    },
    "warm-up": {},
}  # fmt: skip
"""A command line, and what makes it another, for each option by its name in the command."""

UNSEEN = frozenset({("annotate", "output"), ("annotate", "annotator")})
"""What only a running page shows: see the tests of it."""

REFUSED = [
    ("--unsupervised", f"{ALIGN} --unsupervised --decoding union"),
    ("--offset", f"{ALIGN} --offset 1 --decoding union"),
    ("--links", f"{ALIGN} --links t.wa --unsupervised 0.3"), ("--sample", f"{ALIGN} --sample 3 --unsupervised"),
    ("--set candidates", f"{ALIGN} --set candidates=likely --unsupervised"), ("--set seed", f"{ALIGN} --set seed=1"),
    ("--set seed", f"{WITH_MODEL} --set seed=1"), ("--set long_pairs", f"{ALIGN} --links t.wa --set long_pairs=drop"),
    ("--set iterations", f"{WITH_MODEL} --set iterations=2"), ("--sample", f"{ALIGN} --sample 3 --directions Y"),
    ("--source", f"{JUDGE} --source en"), ("--text", "evaluate t l.wa --text t"), ("--seed", f"{REPORT} -o Z --seed 1"),
    ("--model", f"{REPORT} --gold t.wa --format csv -m M"), ("--source", f"{INFO} --source en"),
    ("--links", f"{INFO} --links t.wa"), ("--features", f"{INFO} t --features"),
    ("-j", f"{ATOOLS} -c invert"), ("-j", "atools -i t.wa -c union"), ("aligner show", f"{ATOOLS} -c display"),
    ("unknown -c", f"{ATOOLS} -c magic"), ("--source", f"{CONVERT} --source en"),
    ("--tokenize", f"{WITH_MODEL} --tokenize"), ("--keep", f"{ALIGN} --keep '"), ("--keep", f"{TRAIN} --keep '"),
    ("--fine", f"{TRAIN} --fine"), ("--fine", "train t -m Z -q --update M --fine"),
    ("--keep", "show t.en t.fr t.wa --keep '"), ("--keep", f"align {RAW} --tokenize --keep a"),
    ("--least", f"{TERMS} --check entries"), ("--model", f"{TERMS} -m M"),
    ("--dictionary", f"{TERMS} --dictionary entries"),
    ("--dictionary", "score t.en t.fr l.wa -m M -q --dictionary entries"), ("--features", "info entries --features"),
    ("--unsure", f"{PROJECT} --unsure Y.tsv"), ("--model", f"{TAGS} -m M"), ("--columns", f"{TAGS} --columns 1,2"),
    ("--skip-bad", "project t.xlf -q --skip-bad"), ("--source", "project t.xlf -q --source en"),
    ("--markup", "project tags -q --markup html"), ("--markup", "project tags t.fr -q"),
    ("--tokenize", f"{INFO} --tokenize"), ("--columns", f"{TERMS} --columns 1,2"),
    ("--tokenize", "score t.en t.fr l.wa -m M -q --tokenize"), ("ends in none", f"{TERMS} -o Z.doc"),
    ("--columns", "score t.en t.fr l.wa -m M -q --columns 1,2"),
    ("--set center", f"{TRAIN} --set families=association --set center=default"),
    *(("", f"{TRAIN} --set loss={loss} --set {one}") for loss in ("fenchel-young", "sparsemap", "logistic")
      for one in ("solver=bcfw", "oracle=scipy", "possible_cost=1", "solver_options.order=uniform")),
    *(("", f"{HINGE} --set {one}") for one in ("oracle=scipy --set fertility=2", "possible_cost=inf",
                                               "solver=kernel-bcfw")),
    *(("", f"{TRAIN} --set {one}") for one in (
        "regularization=1e-300", "regularization=1e300", "regularization=nan", "miss_cost=1e308", "false_cost=1e308",
        "fertility=101", "tolerance=nan", "max_seconds=nan")),
    *(("", f"{ALIGN} --set {one}") for one in ("iterations=99999999999", "null=nan", "seconds=nan")),
    ("", f"{ALIGN} --offset inf"), ("an offset of 1001.0", "align nothing --offset 1001"),
    ("", f"{FAST} -I 99999999999"),
    *((f"{option} has no effect with --model", f"{WITH_MODEL} {option} {value}") for option, value in (
        ("--decoding", "union"), ("--unsupervised", "0.5"), ("--directions", "P"))),
    *(("has no effect with --links", f"{line} --links t.wa {option}") for line, option in (
        (ALIGN, "--skip-bad"), (WITH_MODEL, "--resume"), (WITH_MODEL, "--max-length 9"))),
    ("no setting magic (choose from candidates, iterations, long_pairs", f"{ALIGN} --set magic=1"),
    ("takes a number from 0 to 1", f"{ALIGN} --unsupervised 1.5"), ("'4/3' is not I/N", f"{WITH_MODEL} --shard 4/3"),
    ("'0,1' is not S,T", f"{WITH_MODEL} --columns 0,1"),
    *(("without one all text is read", f"{ALIGN} {option}") for option in ("--shard 1/3", "--resume")),
    ("name it with --output", "align t.en t.fr -m M --resume"), ("read again", "align - -m M -o Z --resume"),
    *((option.split()[0], f"train t.en t.fr -m Z -q {option} {more}") for more in ("--update M", "") for option in (
        "--links t.wa", "--trace Y", "--set solver=bcfw", "--set loss=hinge")),
    *((option.split()[0], f"train t.en t.fr -m Z -q {option} --update M") for option in (
        "--gold t", "--source en", "--stem")),
    *(("", f"{TRAIN} {option}") for option in (
        "--trace Z", "--set memory=infG", "--set memory=-1", "--set families=", "--set cross_validate=1000000")),
    ("does not tell the format (give --to)", "convert t.both Z"), ("OUT and OUT2 are both Z", "convert t.both Z Z"),
    *((f"{option.split()[0]} has no effect on text", f"convert t.both Z Y {option}") for option in (
        "--to talp", "--from talp", "--text t", "--transpose")),
    ("--columns is of a text, which is not there", "convert t.wa Z.wa --columns a,b"),
    ("bcfw has no option sample", f"{HINGE} --set solver=bcfw --set solver_options.sample=0.5"),
]  # fmt: skip
"""What a line names, and command lines with an option that would do nothing, or a number that cannot be."""

USAGE = [f"{JUDGE} --resamples 99999999999", "show t.en t.fr l.wa -n 99999999999999999999", f"{FAST} -t 1e308",
         "show t.en t.fr l.wa --from 99999999999999999999", f"{JUDGE} --confidence nan"]  # fmt: skip


def test_every_option_has_an_entry() -> None:
    for command, found in COMMANDS.items():
        options = {p.name.rstrip("_") for p in found.params if p.param_type_name == "option"} - {"set"}
        options |= {name.partition(".")[0] for name, _ in settings_of(found.callback)}
        assert options - MACHINE - EXEMPT.get(command, set()) <= CHANGES[command].keys(), command
        assert CHANGES[command].keys() <= options, command


@pytest.fixture(scope="module")
def files(once: Any, sample: Path, priors: Path) -> Path:
    """A folder with b, 30 labelled pairs of the sample, t, 12 others, another's links of t, l.wa, and a model, M."""

    def fill(folder: Path) -> None:
        for name, text, pairs in (("b", "train", 30), ("t", "test", 12)):
            sides = {end: (sample / f"{text}.{end}").read_text().splitlines()[:pairs] for end in ("en", "fr", "wa")}
            for end, lines in sides.items():
                write(folder / f"{name}.{end}", *lines)
            write(folder / f"{name}.both", *map(" ||| ".join, zip(sides["en"], sides["fr"], strict=True)))
            for end in ("en", "fr") if name == "t" else ():
                write(folder / f"pieces.{end}", *(re.sub(r"(\w\w)(\w)", r"\1 \2", line) for line in sides[end]))
            units = (
                f'<unit><segment state="initial"><source>{e}</source><target>{f}</target></segment></unit>'
                for e, f in zip(*(map(escape, sides[end]) for end in ("en", "fr")), strict=True)
            )
            xliff = (
                '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="fr"><file>'
            )
            write(folder / f"{name}.xlf", xliff, *units, "</file></xliff>")
            write(folder / f"{name}.tabs", *(f"{e}\t{f}\t{f}" for e, f in zip(sides["en"], sides["fr"], strict=True)))
        for end, line in (("en", "a hou'se."), ("fr", "une maison."), ("wa", "0-0 1-1")):
            write(folder / f"raw.{end}", line)
        write(folder / "l.wa", *(f"0-0 {line}".rpartition(" ")[0] for line in sides["wa"]))
        (folder / "bad.en").write_bytes(b"\xff" + (folder / "t.en").read_bytes()[1:])
        run("train", folder / "b", "-m", folder / "M", "-q", "--set", "cross_validate=0")
        shutil.copy(priors / "eflomal.priors", folder / "priors")
        write(folder / "entries", "the\tla", "of\tde\t3", "a\tdie")
        write(folder / "terms", "hou\tmaison")
        lines = (folder / "t.en").read_text().splitlines()
        write(folder / "labels", *("".join(f"{word} X\n" for word in line.split()) for line in lines))
        write(folder / "tags", *(f"<b>{line.replace(' ', '</b> ', 1)}" for line in lines))
        target = (folder / "t.fr").read_text().splitlines()
        both = escape(lines[0].split()[0]), escape(" ".join(target[0].split()[:2]))
        unit = '<trans-unit id="1"><source><g id="1">{}</g></source><target><g id="1">{}</g></target></trans-unit>'
        write(folder / "memory", f'<xliff version="1.2"><file><body>{unit.format(*both)}</body></file></xliff>')
        last = len(target[0].rpartition(" ")[0]) + 1
        write(folder / "moved", "pair\tnumber\tstart\tend\ttext", f"1\t0\t{last}\t{len(target[0])}\t{target[0]}")
        write(folder / "gold", *("".join(f"{word} X\n" for word in line.split()) for line in target))

    found: Path = once("options", fill)
    return found


def timeless(value: Any) -> Any:
    """JSON values without what a clock says."""
    if isinstance(value, dict):
        return {name: timeless(one) for name, one in value.items() if "seconds" not in name and name != "date"}
    return [*map(timeless, value)] if isinstance(value, list) else value


def outcome(line: str, files: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The exit code, what is said, and the files that a command writes; models by weights and record."""
    folder.mkdir()
    for file in files.iterdir():
        shutil.copy(file, folder)
    monkeypatch.chdir(folder)
    result = invoke(*line.split())
    written: dict[str, Any] = {}
    for path in folder.iterdir():
        if not (files / path.name).exists():
            try:
                model = aligner.load(path)
                info = timeless([model.info(), model.record, list(map(vars, model.normalizers))])
                written[path.name] = json.dumps(info, default=str), model.features, model.rewards
                written[path.name] += (model.weights.tobytes(), model.candidates if hasattr(model, "candidates") else 0)
            except (CorpusError, aligner.AlignerError):
                written[path.name] = path.read_bytes()
    return result.exit_code, result.stdout_bytes, result.stderr, written


_without: dict[str, Any] = {}  # what comes out of each line without an option, found once for all


@pytest.mark.slow
@pytest.mark.parametrize(("command", "option"), [(c, o) for c, several in CHANGES.items() for o in several])
def test_an_option_changes_what_comes_out(
    command: str, option: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (command, option) in UNSEEN:
        pytest.skip("seen by the tests of the page")
    line, change = CHANGES[command][option]
    if line not in _without:
        _without[line] = outcome(line, files, tmp_path / "0", monkeypatch)
    assert outcome(f"{line} {change}", files, tmp_path / "1", monkeypatch) != _without[line]


@pytest.mark.slow
@pytest.mark.parametrize(("named", "line"), REFUSED, ids=[line for _, line in REFUSED])
def test_what_has_no_effect_or_cannot_be_is_refused(
    named: str, line: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    before = {*files.iterdir()}
    result = invoke(*line.split())
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert named in result.stderr
    assert {*files.iterdir()} == before


@pytest.mark.slow
@pytest.mark.parametrize("line", USAGE)
def test_numbers_beyond_all_use_are_wrong_usage(line: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    result = invoke(*line.split())
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert " number from " in result.stderr
