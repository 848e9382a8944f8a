"""Signals at any moment of a command: it ends with one line and one exit code, and leaves nothing half done.

Signals are sent when the command has said where it is; only the nightly tests send them by the clock.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
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

with_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")


def nothing_left(signum: signal.Signals) -> str:
    return f"{WORDS[signum]}: no unfinished file is left\n"


def write_often(path: Path, corpus: Path, times: int) -> Path:
    """A corpus again and again, so that a signal comes in the middle."""
    for suffix in ("en", "fr", "wa"):
        path.with_suffix(f".{suffix}").write_bytes(corpus.with_suffix(f".{suffix}").read_bytes() * times)
    return path


def answers_signals(pid: int) -> bool:
    """Whether the command has begun: Python, which comes first, would let SIGTERM end the process at once."""
    status = Path(f"/proc/{pid}/status").read_text()
    (caught,) = (int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def endless_training(corpus: Path, model: Path, *more: object) -> list[object]:
    endless = f"--set solver=frank-wolfe --set tolerance=0 --set max_passes={10**8}"
    return ["train", corpus, "-m", model, *endless.split(), *more]


@pytest.mark.parametrize(
    ("signum", "old"), [(signal.SIGINT, b"old"), (signal.SIGTERM, b""), (signal.SIGINT, b""), (signal.SIGTERM, b"old")]
)
def test_a_signal_while_reading_leaves_what_was_there(
    sample: Path, tmp_path: Path, signum: signal.Signals, old: bytes
) -> None:
    path = tmp_path / "X"
    if old:
        path.write_bytes(old)
    process = start("train", "-", "--gold", sample / "test", "-m", path, "--force")
    process.stdin.write(b"a ||| b\n")
    process.stdin.flush()
    recognised = read_until(process.stderr.fileno(), "test.fr")
    assert b"|||" in recognised  # said before the text is read, which does not end
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


@pytest.mark.parametrize(
    ("moment", "folds"), [("passes 3,", 0), ("without fold 1, passes 3,", 0), ("without fold 2, passes 3,", 1)]
)
def test_an_interrupt_keeps_the_finished_folds(sample: Path, tmp_path: Path, moment: str, folds: int) -> None:
    path = tmp_path / "X"
    limits = ["--set", "tolerance=0", "--set", "max_passes=200", "--set", "solver=frank-wolfe"]
    process = start("train", sample / "test", "-m", path, "--set", "cross_validate=2", "-v", *limits)
    read_until(process.stderr.fileno(), f"\n{moment}")
    process.send_signal(signal.SIGINT)
    errors = ended(process, 128 + signal.SIGINT)
    assert "64 pairs taught." in errors
    kept = f"the best weights so far are saved; {folds} of 2 folds were held out"
    assert errors.splitlines()[-1] == f"interrupted: {kept}"
    assert load(path).record["folds"] == 2


def test_a_second_signal_ends_at_once(sample: Path, tmp_path: Path) -> None:
    process = start(*endless_training(sample / "test", tmp_path / "X", "-v"))
    read_until(process.stderr.fileno(), "passes 3,")
    for signum in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):  # both wait when it goes on
        process.send_signal(signum)
    errors = ended(process, 128 + signal.SIGTERM)
    assert errors.endswith(nothing_left(signal.SIGTERM))
    assert not [*tmp_path.iterdir()]


def test_a_second_signal_ends_the_writing_of_the_model(sample: Path) -> None:
    process = start(*endless_training(sample / "test", "-", "-v"))
    read_until(process.stderr.fileno(), "passes 3,")
    told: list[bytes] = []  # of each pass, more than a pipe holds if this process is slow
    listener = threading.Thread(target=lambda: told.append(process.stderr.read()))
    listener.start()
    process.send_signal(signal.SIGINT)
    select.select([process.stdout], [], [], TIMEOUT)  # a pipe does not hold the whole model, and nobody reads it
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 128 + signal.SIGINT
    listener.join()
    process.communicate()
    assert told[0].decode().endswith(nothing_left(signal.SIGINT))


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


@both_signals
@pytest.mark.parametrize("library", ["numpy", "llvmlite.binding", "numba.core.typing", "numba"])
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


@both_signals
@pytest.mark.parametrize("stage", ["reading", "counting", "translation", "features"])
def test_a_signal_before_there_is_a_model(sample: Path, tmp_path: Path, stage: str, signum: signal.Signals) -> None:
    gold, path = write_often(tmp_path / "t", sample / "train", 20), tmp_path / "X"
    with on_terminal("train", sample / "train", "--gold", gold, "-m", path) as (process, terminal):
        read_until(terminal, stage)
        process.send_signal(signum)
        shown = rest_of_terminal(terminal)
        assert process.wait(TIMEOUT) == 128 + signum
    assert shown.endswith(nothing_left(signum).replace("\n", "\r\n").encode())
    assert {p.name for p in tmp_path.iterdir()} == {"t.en", "t.fr", "t.wa"}


@both_signals
def test_a_signal_while_aligning_leaves_no_file(model: Path, tmp_path: Path, signum: signal.Signals) -> None:
    process = start("align", "-", "-m", model, "-o", tmp_path / "F", "-q")
    process.stdin.write(b"a ||| b\n")
    process.stdin.flush()
    wait_for(lambda: [*tmp_path.iterdir()])  # the file that is to become F
    process.send_signal(signum)
    errors = ended(process, 128 + signum)
    assert errors == nothing_left(signum)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("moment", ["translation", "writing"])
@pytest.mark.parametrize("old", [b"", b"old"])
def test_a_signal_without_a_model_leaves_what_was_there(sample: Path, tmp_path: Path, moment: str, old: bytes) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    output = folder / "F"
    if old:
        output.write_bytes(old)
    text = write_often(tmp_path / "t", sample / "train", 30)
    with on_terminal("align", text, "-o", output, "--force", "--set", "iterations=1") as (process, terminal):
        if moment == "writing":
            wait_for(lambda: len([*folder.iterdir()]) > bool(old))
        else:
            read_until(terminal, moment)
        process.send_signal(signal.SIGINT)
        shown = rest_of_terminal(terminal)
        assert process.wait(TIMEOUT) == 128 + signal.SIGINT
    assert shown.endswith(b"interrupted: no unfinished file is left\r\n")
    assert [path.read_bytes() for path in folder.iterdir()] == ([old] if old else [])


def interrupt_compiling(
    sample: Path, folder: Path, number: int, signum: signal.Signals, come: Callable[[int, Path], object]
) -> None:
    """Send a signal when the moment has come; what a compiler has left in its cache is there the next time."""
    cache, out = folder / f"cache{number % 2}", folder / "out"
    out.mkdir(exist_ok=True)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    process = start("align", sample / "test.en", sample / "test.fr", "-o", out / "F", "-q", env=environment)
    come(process.pid, cache)
    process.send_signal(signum)
    errors = ended(process, 128 + signum)
    assert errors == nothing_left(signum)
    assert not [*out.iterdir()]


def kernels_in(cache: Path) -> int:
    """Those kept so far; folders that come and go meanwhile are no errors."""
    return sum(name.endswith(".nbc") for _, _, files in os.walk(cache) for name in files)


@both_signals
def test_a_signal_while_compiling(sample: Path, tmp_path: Path, signum: signal.Signals) -> None:
    for compiled in (1, 4):
        interrupt_compiling(
            sample,
            tmp_path,
            0,
            signum,
            lambda pid, cache, compiled=compiled: wait_for(lambda: kernels_in(cache) >= compiled),
        )


@with_proc
@pytest.mark.nightly
@both_signals
def test_a_signal_at_any_time_of_compiling(sample: Path, tmp_path: Path, signum: signal.Signals) -> None:
    def after(delay: float) -> Callable[[int, Path], None]:
        def come(pid: int, cache: Path) -> None:
            wait_for(lambda: answers_signals(pid))
            time.sleep(delay)

        return come

    for number, delay in enumerate(np.linspace(0, 4, 9)):  # what is left in the caches makes the last ones shorter
        interrupt_compiling(sample, tmp_path, number, signum, after(delay))
