"""Command lines that nobody means: they end with a code that says what happened, and change only what they may."""

import gzip
import random
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaign.forks import Child, Ended
from campaign.mutate import mutated
from campaign.rounds import Round, rounds, told
from commands import COMMANDS, run

LINES = {
    "train": "joined --gold gold -m OUT --set cross_validate=0",
    "align": "a.en a.fr -o OUT",
    "evaluate": "gold.wa a.links",
    "show": "a.en a.fr a.links -n 2",
    "report": "a.en a.fr a.links --gold gold.wa -o OUT",
    "info": "a.model",
    "score": "a.en a.fr a.links -m a.model -o OUT",
    "lexicon": "a.en a.fr a.links --to tsv -o OUT",
    "convert": "gold.wa OUT --to talp",
    "symmetrize": "a.links b.links -o OUT",
    "combine": "a.links b.links -o OUT",
    "priors": "a.model -o OUT",
    "fast-align": "-i joined -d -o -v",
}
"""A command line of each command that is fine; OUT is what it writes."""

VALUES = [
    "0", "1", "2", "-1", "0.5", "1e-300", "1e308", "nan", "inf", "9" * 30, "", "-", "nowhere", "a.en", "a.links",
    "a.model", ".", "gold.wa", "\x1b[2J", "a\nb", "\udcff", "x" * 300, "/dev/null", "/dev/full", "hinge", "tsv",
    "jsonl", "en", "1/2",
]  # fmt: skip

LEFT_OUT = {"--cluster", "--threads", "--debug"}
"""Options that start processes, or ask for a traceback."""


@pytest.fixture(scope="session")
def workshop(sample: Path, model: Path, once: Callable[..., Path]) -> Path:
    """A folder with what the command lines name."""

    def make(folder: Path) -> None:
        for side in ("en", "fr"):
            for name in ("a", "gold"):
                shutil.copy(sample / f"test.{side}", folder / f"{name}.{side}")
        shutil.copy(sample / "test.wa", folder / "gold.wa")
        shutil.copy(model, folder / "a.model")
        sides = [(folder / f"a.{side}").read_text().splitlines() for side in ("en", "fr")]
        (folder / "joined").write_text("".join(f"{one} ||| {other}\n" for one, other in zip(*sides, strict=True)))
        run("align", folder / "a.en", folder / "a.fr", "-o", folder / "a.links", "-q")
        run("align", folder / "a.en", folder / "a.fr", "--unsupervised", "-o", folder / "b.links", "-q")

    return once("campaign-workshop", make)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def options_of(command: str, rng: random.Random) -> list[str]:
    """Up to three options of a command, with values that may or may not be of their kind."""
    known: list[Any] = [
        one for one in COMMANDS[command].params if one.opts[0].startswith("-") and not LEFT_OUT & {*one.opts}
    ]
    given = []
    for option in rng.sample(known, min(len(known), rng.choice([0, 0, 1, 1, 2, 3]))):
        choices = list(getattr(getattr(option, "type", None), "choices", []))
        value = rng.choice(choices) if choices and rng.randrange(4) else rng.choice(VALUES)
        given += [rng.choice(option.opts)] + ([] if option.is_flag else [str(getattr(value, "value", value))])
    return given


def judge_end(command: list[str], ended: Ended, before: dict[str, bytes], after: dict[str, bytes], out: str) -> None:
    assert ended.code in (0, 1, 2, 3, -signal.SIGPIPE)
    assert "Traceback" not in ended.stderr
    if ended.code == 1:
        last = ended.stderr.rstrip("\n").rpartition("\n")[2]
        assert re.fullmatch(r".+: .+ \(.+\)", last)
        assert last.isprintable()
    if "--force" not in command and command[0] != "fast-align":  # which writes over its table, as the real one
        assert {name: after.get(name) for name in before} == before
    if ended.code != 0:  # train keeps the weights it has got; without convergence
        assert ended.code == 3 or after.keys() == before.keys()
    plain = {"-o", "-q", "--unsupervised", "-m", "a.model"}
    if command[0] == "align" and ended.code == 0 and out in after and {*command[3:]} <= plain | {out}:
        written = gzip.decompress(after[out]) if out.endswith(".gz") else after[out]
        assert written.count(b"\n") == before["a.en"].count(b"\n") + (not before["a.en"].endswith(b"\n"))


@rounds(2_000, 8)
def test_command_lines(inputs: Round, workshop: Path, tmp_path: Path) -> None:
    texts = [content for name, content in contents(workshop).items() if not name.endswith(".model")]
    for number, rng in inputs.numbered():
        folder = tmp_path / f"{number}"
        shutil.copytree(workshop, folder)
        command = rng.choice(list(LINES))
        out = rng.choice(["out", "out.gz", "a.links", "-"]) if rng.randrange(4) == 0 else "out"
        given = [out if one == "OUT" else one for one in LINES[command].split()] + options_of(command, rng)
        if rng.randrange(2):
            spoilt = folder / rng.choice(["a.en", "a.fr", "a.links", "b.links", "gold.wa", "joined", "a.model"])
            spoilt.write_bytes(mutated(spoilt.read_bytes(), rng, texts))
        before = contents(folder)
        with told(inputs, number, *folder.iterdir()):
            stdout = Path("/dev/full") if rng.randrange(20) == 0 else None
            child = Child(folder, [command, *given], stdin=rng.choice([None, None, folder / "joined"]), stdout=stdout)
            stopped = rng.choice([None] * 9 + [signal.SIGTERM])
            ended = child.end(stopped, rng.random())
            try:
                if stopped is None or ended.code not in (-stopped, 128 + stopped):
                    judge_end([command, *given], ended, before, contents(folder), out)
            except AssertionError as error:
                error.add_note(f"aligner {command} {given}: {ended}")
                raise
        shutil.rmtree(folder)
