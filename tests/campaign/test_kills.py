"""Whenever a command ends, what stands under a final name is whole, and --resume goes on to the same bytes."""

import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from campaign.forks import Child
from campaign.rounds import Round, rounds, told

import aligner
from corpora.files import read_lines

COMMANDS = {
    "align": "align big.en big.fr -m a.model -o out",
    "align-gz": "align big.en big.fr -m a.model --format jsonl -o out.gz",
    "align-self": "align big.en big.fr -o out",
    "resume": "align big.en big.fr -m a.model -o out --resume",
    "resume-zst": "align big.en big.fr -m a.model -o out.zst --resume",
    "shard": "align big.en big.fr -m a.model -o out --shard 1/2",
    "train": "train big.en big.fr --gold gold -m out.model --set cross_validate=0",
    "update": "train big.en big.fr --update a.model -m out.model",
    "report": "report big.en big.fr big.links -o out.html",
    "lexicon": "lexicon big.en big.fr big.links --to tsv -o out",
    "convert": "convert big.links out --to talp",
    "combine": "combine big.links big.links -o out",
    "priors": "priors a.model -o out",
}
LEFT = re.compile(r"\.\w.*\.aligner-\d+-\w+\.tmp|\.aligner-.*|out(\.zst)?\.partial(\.journal)?")
"""What docs say may be left by a kill; by other signals only what --resume goes on with."""

REPEATS = 12


class Whole(NamedTuple):
    """A folder with what the commands read, and by their names folders of what they write undisturbed."""

    folder: Path
    once: Callable[..., Path]

    def output(self, name: str) -> Path:
        def make(folder: Path) -> None:
            ended = Child(copied(self.folder, folder / "in"), [*COMMANDS[name].split(), "-q"]).end()
            assert ended.code == 0, ended
            (folder / "out").mkdir()
            for path in (folder / "in").glob("out*"):
                path.rename(folder / "out" / path.name)

        return self.once(f"campaign-{name}", make) / "out"


@pytest.fixture(scope="session")
def whole(sample: Path, model: Path, once: Callable[..., Path]) -> Whole:
    def make(folder: Path) -> None:
        for side in ("en", "fr"):
            shutil.copy(sample / f"test.{side}", folder / f"gold.{side}")
            (folder / f"big.{side}").write_bytes((sample / f"train.{side}").read_bytes() * REPEATS)
        shutil.copy(sample / "test.wa", folder / "gold.wa")
        shutil.copy(model, folder / "a.model")
        ended = Child(folder, [*COMMANDS["align"].replace("-o out", "-o big.links").split(), "-q"]).end()
        assert ended.code == 0, ended

    return Whole(once("campaign-whole", make), once)


def copied(whole: Path, folder: Path) -> Path:
    folder.mkdir()
    for path in whole.iterdir():
        (folder / path.name).hardlink_to(path)
    return folder


def judge_files(folder: Path, whole: Whole, name: str) -> None:
    """What is there under a final name is what an undisturbed command writes."""
    for path in folder.glob("out*"):
        if path.suffix == ".model":  # says when it was made
            assert aligner.load(path).record
        elif not LEFT.fullmatch(path.name):
            assert list(read_lines(path)) == list(read_lines(whole.output(name) / path.name))


@rounds(520, 5)
def test_kills(inputs: Round, whole: Whole, tmp_path: Path) -> None:
    for number, rng in inputs.numbered():
        name = rng.choice(list(COMMANDS))
        folder, command = copied(whole.folder, tmp_path / f"{number}"), COMMANDS[name].split()
        before = {path.name for path in folder.iterdir()}
        ends = [rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]) for _ in range(rng.choice([1, 1, 3]))]
        with told(inputs, number):
            for signum in ends if "--resume" in command else ends[:1]:
                ended = Child(folder, command).end(signum, rng.random() * rng.choice([0.1, 1.0, 4.0]))
                assert ended.code in (0, -signum, 128 + signum), ended
                if ended.code > 0:
                    words = {signal.SIGINT: "interrupted: ", signal.SIGTERM: "terminated: "}[signum]
                    assert words in ended.stderr.splitlines()[-1], ended
                left = {path.name for path in folder.iterdir()} - before - {*(p.name for p in folder.glob("out*"))}
                assert not left or (signum == signal.SIGKILL and all(map(LEFT.fullmatch, left))), left
                judge_files(folder, whole, name)
                if ended.code == 0:
                    break
            if "--resume" in command:
                expected = [*whole.output(name).iterdir()]
                if not any((folder / path.name).exists() for path in expected):
                    assert Child(folder, command).end().code == 0
                for path in expected:
                    assert (folder / path.name).read_bytes() == path.read_bytes()
        shutil.rmtree(folder)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path | None]:
    """A folder in a file system of 1 MB; None where none may be mounted."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True)
    yield folder if mounted.returncode == 0 else None
    if mounted.returncode == 0:
        subprocess.run(["umount", "-l", folder], check=True)


@rounds(240, 4, chunks=4)
def test_limits(inputs: Round, whole: Whole, tmp_path: Path, full: Path | None) -> None:
    for number, rng in inputs.numbered():
        name = rng.choice(list(COMMANDS))
        folder, command = copied(whole.folder, tmp_path / f"{number}"), COMMANDS[name].split()
        limit, size = rng.choice(
            [
                (resource.RLIMIT_FSIZE, rng.choice([4_096, 20_000, 200_000])),
                (resource.RLIMIT_NOFILE, rng.randrange(6, 40)),
                (resource.RLIMIT_AS, rng.choice([900, 1500, 3000]) << 20),
                (None, 0),
            ]
        )
        if limit is None and full is not None:
            for path in full.iterdir():
                path.unlink()
            (full / "filler").write_bytes(b"x" * rng.choice([0, 600_000, 900_000, 1_000_000]))
            command = [one.replace("out", f"{full}/out") if one.startswith("out") else one for one in command]
        with told(inputs, number):
            ended = Child(folder, command, limits={} if limit is None else {limit: size}).end()
            assert ended.code in (0, 1), (command, limit, size, ended)
            assert "Traceback" not in ended.stderr or "ImportError" in ended.stderr, (command, limit, size, ended)
            judge_files(folder, whole, name)
            if ended.code and "--resume" in command and limit is not None:
                assert Child(folder, command).end().code == 0
                judge_files(folder, whole, name)
        shutil.rmtree(folder)
