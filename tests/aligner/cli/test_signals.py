"""Signals at any moment of a command: it ends with one line and one exit code, and leaves nothing half done.

Signals are sent when the command has said where it is; those at any moment are in the tests of the campaign.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import TIMEOUT, ended, on_terminal, read_until, rest_of_terminal, start, wait_for

from aligner.model.model import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
    pytest.mark.usefixtures("model"),  # its training has compiled what most processes here need
]

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
both_signals = pytest.mark.parametrize("signum", list(WORDS), ids=list(WORDS.values()))


def nothing_left(signum: signal.Signals) -> str:
    return f"{WORDS[signum]}: no unfinished file is left\n"


def write_often(path: Path, corpus: Path, times: int) -> Path:
    """A corpus again and again, so that a signal comes in the middle."""
    for suffix in ("en", "fr", "wa"):
        path.with_suffix(f".{suffix}").write_bytes(corpus.with_suffix(f".{suffix}").read_bytes() * times)
    return path


def endless_training(corpus: Path, model: Path, *more: object) -> list[object]:
    endless = f"--set solver=frank-wolfe --set tolerance=0 --set max_passes={10**8}"
    return ["train", corpus, "-m", model, *endless.split(), *more]


@pytest.mark.parametrize(("signum", "old"), [(signal.SIGINT, b""), (signal.SIGTERM, b"old")])
def test_a_signal_while_reading_leaves_what_was_there(
    sample: Path, tmp_path: Path, signum: signal.Signals, old: bytes
) -> None:
    path = tmp_path / "X"
    if old:
        path.write_bytes(old)
    process = start("train", "-", "--gold", sample / "test", "-m", path, "--force")
    process.stdin.write(b"a ||| b\n")
    process.stdin.flush()
    assert b"|||" in read_until(process.stderr.fileno(), "test.fr")  # said before the text is read
    process.send_signal(signum)
    errors = ended(process, 128 + signum)
    assert errors.splitlines(keepends=True)[-1] == nothing_left(signum)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([old] if old else [])


@both_signals
def test_a_signal_while_solving_keeps_the_last_audit(sample: Path, tmp_path: Path, signum: signal.Signals) -> None:
    path, trace = tmp_path / "X", tmp_path / "T"
    process = start(*endless_training(sample / "test", path, "-v", "--trace", trace))
    read_until(process.stderr.fileno(), "\npasses 3,")
    process.send_signal(signum)
    errors = ended(process, 128 + signum)
    assert " pairs taught. Stopped early, at a relative gap of " in errors
    assert errors.splitlines()[-1] == f"{WORDS[signum]}: the best weights so far are saved"
    record = load(path).record
    assert not record["converged"]
    points = [json.loads(point) for point in trace.read_text().splitlines()]
    assert (record["primal"], record["dual"]) == (min(p["primal"] for p in points), max(p["dual"] for p in points))
    assert all(record[name] == points[-1][name] for name in ("passes", "oracle_calls", "gap"))
    assert {*tmp_path.iterdir()} == {path, trace}


def test_a_second_signal_ends_at_once(sample: Path, tmp_path: Path) -> None:
    process = start(*endless_training(sample / "test", tmp_path / "X", "-v"))
    read_until(process.stderr.fileno(), "passes 3,")
    for signum in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):  # both wait when it goes on
        process.send_signal(signum)
    errors = ended(process, 128 + signal.SIGTERM)
    assert errors.endswith(nothing_left(signal.SIGTERM))
    assert not [*tmp_path.iterdir()]


UNREAD = """
import os, signal, sys
from aligner.cli.signals import listen_to_signals
listen_to_signals()
os.set_blocking(1, False)
sys.stdout = open(1, "w")
while sys.stdout.buffer.raw.write(bytes(4096)): pass
os.set_blocking(1, True)
sys.stdout.write("this waits in the buffer")
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_signal_ends_a_process_whose_output_nobody_reads() -> None:
    process = subprocess.Popen([sys.executable, "-c", UNREAD], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.wait(TIMEOUT) == 128 + signal.SIGTERM
    assert process.communicate()[1].decode().endswith(nothing_left(signal.SIGTERM))


@pytest.mark.parametrize(
    ("library", "signum"),
    list(zip(["numpy", "llvmlite.binding", "numba.core.typing", "numba"], 2 * [*WORDS], strict=True)),
)
def test_signals_while_libraries_are_imported(
    sample: Path, tmp_path: Path, library: str, signum: signal.Signals
) -> None:
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}  # a line for each module
    process = start(*endless_training(sample / "train", tmp_path / "X", "-q"), env=environment)
    read_until(process.stderr.fileno(), f" {library}\n")
    process.send_signal(signum)
    process.send_signal(signum)
    errors = ended(process, 128 + signum)
    assert errors.splitlines(keepends=True)[-1] == nothing_left(signum)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("stage", "signum"), list(zip(["reading", "counting", "translation", "features"], 2 * [*WORDS], strict=True))
)
def test_a_signal_before_there_is_a_model(sample: Path, tmp_path: Path, stage: str, signum: signal.Signals) -> None:
    gold, path = write_often(tmp_path / "t", sample / "train", 20), tmp_path / "X"
    with on_terminal("train", sample / "train", "--gold", gold, "-m", path) as (process, terminal):
        read_until(terminal, stage)
        process.send_signal(signum)
        shown = rest_of_terminal(terminal)
        assert process.wait(TIMEOUT) == 128 + signum
    assert shown.endswith(nothing_left(signum).replace("\n", "\r\n").encode())
    assert {p.name for p in tmp_path.iterdir()} == {"t.en", "t.fr", "t.wa"}


def test_a_signal_while_writing_leaves_what_was_there(sample: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "out").mkdir()
    (folder / "F").write_bytes(b"old")
    text = write_often(tmp_path / "t", sample / "train", 30)
    process = start("align", text, "-o", folder / "F", "--force", "-q", "--set", "iterations=1")
    wait_for(lambda: len([*folder.iterdir()]) > 1)
    process.send_signal(signal.SIGINT)
    assert ended(process, 128 + signal.SIGINT) == nothing_left(signal.SIGINT)
    assert [path.read_bytes() for path in folder.iterdir()] == [b"old"]


def kernels_in(cache: Path) -> int:
    """Those kept so far; folders that come and go meanwhile are no errors."""
    return sum(name.endswith(".nbc") for _, _, files in os.walk(cache) for name in files)


def test_a_signal_while_compiling(sample: Path, tmp_path: Path) -> None:
    """What a compiler has left in its cache is there the next time."""
    (out := tmp_path / "out").mkdir()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for compiled, signum in zip((1, 4), WORDS, strict=True):
        process = start("align", sample / "test.en", sample / "test.fr", "-o", out / "F", "-q", env=environment)
        wait_for(lambda compiled=compiled: kernels_in(tmp_path / "cache") >= compiled)
        process.send_signal(signum)
        assert ended(process, 128 + signum) == nothing_left(signum)
        assert not [*out.iterdir()]
