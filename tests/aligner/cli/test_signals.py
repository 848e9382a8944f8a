"""The command as a process: signals at any moment, pipes on both ends, full disks and terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import COMMAND, TIMEOUT

from aligner.model.model import load

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")]

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
both_signals = pytest.mark.parametrize("signum", list(WORDS), ids=list(WORDS.values()))

with_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")


def hear_signals() -> None:
    """A shell starts its background jobs with Ctrl-C ignored, which the command respects."""
    for signum in WORDS:
        signal.signal(signum, signal.SIG_DFL)


def start(*arguments: object, **settings: Any) -> subprocess.Popen[bytes]:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*COMMAND, *map(str, arguments)], preexec_fn=hear_signals, **{**pipes, **settings})


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *map(str, arguments)], input=stdin, capture_output=True, timeout=TIMEOUT)


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def answers_signals(pid: int) -> bool:
    """Whether the command has begun: Python, which comes first, would let SIGTERM end the process at once."""
    status = Path(f"/proc/{pid}/status").read_text()
    (caught,) = (int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def endless_training(corpus: Path, model: Path, *more: object) -> list[object]:
    return [
        "train",
        corpus,
        "-m",
        model,
        "--solver-option",
        "step=decreasing",
        "--tolerance",
        0,
        "--max-passes",
        10**8,
        *more,
    ]


@pytest.mark.parametrize(
    ("signum", "old"),
    [
        (signal.SIGINT, b"old"),
        (signal.SIGTERM, b""),
        (signal.SIGINT, b""),
        (signal.SIGTERM, b"old"),
    ],
)
def test_a_signal_while_reading_leaves_what_was_there(
    sample: Path, tmp_path: Path, signum: signal.Signals, old: bytes
) -> None:
    path = tmp_path / "X"
    if old:
        path.write_bytes(old)
    process = start("train", "-", "--gold", sample / "test", "-m", path, "--force")
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(b"a ||| b\n")
    process.stdin.flush()
    recognised = [process.stderr.readline(), process.stderr.readline()]
    assert b"|||" in recognised[0]  # said before the text is read, which does not end
    process.send_signal(signum)
    output, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + signum
    assert not output
    assert errors.decode() == f"{WORDS[signum]}: no unfinished file is left\n"
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([old] if old else [])


@both_signals
def test_a_signal_while_solving_keeps_the_last_audit(sample: Path, tmp_path: Path, signum: signal.Signals) -> None:
    path, trace = tmp_path / "X", tmp_path / "T"
    process = start(*endless_training(sample / "test", path, "-v", "--trace", trace))
    assert process.stderr is not None
    while not (line := process.stderr.readline().decode()).startswith("λ 0.1, pass 3:"):
        assert line
    process.send_signal(signum)
    output, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + signum
    assert b"training AER" in output
    assert errors.decode().splitlines()[-1] == f"{WORDS[signum]}: the model is that of the solver's best audit"
    record = {**load(path).record, "fold": None, "miss_cost": None}
    assert not record["converged"]
    points = [json.loads(point) for point in trace.read_text().splitlines()]
    assert {name: record[name] for name in points[-1]} == points[-1]
    assert {*tmp_path.iterdir()} == {path, trace}


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ("λ 0.1, pass 3:", "the model is that of the best audit on all pairs, at λ 0.1"),
        ("λ 0.1 without fold 1, pass 3:", "the model is that of the best audit on all pairs, at λ 0.1"),
        ("λ 10 without fold 2, pass 3:", "is the choice of 1 of 2 folds"),
    ],
    ids=["on all pairs", "in the first fold", "in the second fold"],
)
def test_an_interrupt_on_a_path_keeps_what_is_finished(sample: Path, tmp_path: Path, moment: str, message: str) -> None:
    path = tmp_path / "X"
    limits = ["--tolerance", 0, "--max-passes", 600, "--solver", "frank-wolfe"]
    process = start("train", sample / "test", "-m", path, "--path", "10:0.1:2", "--cross-validate", 2, "-v", *limits)
    assert process.stderr is not None
    while not (line := process.stderr.readline().decode()).startswith(moment):
        assert line
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + signal.SIGINT
    assert b"held-out AER" in output
    last = errors.decode().splitlines()[-1]
    assert last.startswith("interrupted: ")
    assert last.endswith(message)
    record = load(path).record
    assert f"λ {record['regularization']:.4g}" in last
    assert [row["regularization"] for row in record["path"]] == [10.0, 0.1]


@with_proc
@both_signals
def test_signals_while_libraries_are_imported(sample: Path, tmp_path: Path, signum: signal.Signals) -> None:
    for delay in np.linspace(0, 0.6, 7):
        process = start(*endless_training(sample / "train", tmp_path / "X", "-q"))
        wait_for(lambda pid=process.pid: answers_signals(pid))
        time.sleep(delay)
        process.send_signal(signum)
        process.send_signal(signum)
        output, errors = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 128 + signum, errors.decode()
        assert not output
        assert not [*tmp_path.iterdir()]


@with_proc
@both_signals
def test_a_signal_at_any_moment_of_training(data: Path, sample: Path, tmp_path: Path, signum: signal.Signals) -> None:
    path = tmp_path / "X"
    for delay in np.linspace(0.5, 9, 10):
        process = start(*endless_training(data / "comtrans-de-en" / "train", path, "-q"))
        wait_for(lambda pid=process.pid: answers_signals(pid))
        time.sleep(delay)
        process.send_signal(signum)
        if delay > 5:  # at an impatient moment: while the model is made or written
            time.sleep((delay * 7) % 1)
            process.send_signal(signum)
        output, errors = process.communicate(timeout=TIMEOUT)
        assert not output
        assert process.returncode == 128 + signum, errors.decode()
        assert errors.decode().startswith(f"{WORDS[signum]}: ")
        assert errors.count(b"\n") == 1
        assert {*tmp_path.iterdir()} <= {path}
        if path.exists():
            assert load(path).record["labelled_pairs"] > 0
            path.unlink()


@both_signals
def test_a_signal_while_aligning_leaves_no_file(model: Path, tmp_path: Path, signum: signal.Signals) -> None:
    process = start("align", "-", "-m", model, "-o", tmp_path / "F")
    assert process.stdin is not None
    process.stdin.write(b"a ||| b\n")
    process.stdin.flush()
    wait_for(lambda: [*tmp_path.iterdir()])  # the file that is to become F
    process.send_signal(signum)
    output, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + signum
    assert not output
    assert errors.decode() == f"{WORDS[signum]}: no unfinished file is left\n"
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("moment", ["training", "writing"])
@pytest.mark.parametrize("old", [b"", b"old"])
def test_a_signal_without_a_model_leaves_what_was_there(sample: Path, tmp_path: Path, moment: str, old: bytes) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    output = folder / "F"
    if old:
        output.write_bytes(old)
    for language in ("en", "fr"):  # long enough for a signal to come in the middle
        (tmp_path / f"t.{language}").write_bytes((sample / f"train.{language}").read_bytes() * 300)
    process = start("align", tmp_path / "t", "-o", output, "--force", "--iterations", 1)
    assert process.stderr is not None
    assert b"t.en = source" in process.stderr.readline(), "the text is read"
    if moment == "training":
        time.sleep(0.3)
    else:
        wait_for(lambda: len([*folder.iterdir()]) > bool(old))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + signal.SIGINT
    assert errors.decode() == "interrupted: no unfinished file is left\n"
    assert [path.read_bytes() for path in folder.iterdir()] == ([old] if old else [])


@with_proc
@both_signals
def test_a_signal_at_any_moment_of_compiling(sample: Path, tmp_path: Path, signum: signal.Signals) -> None:
    texts, out = [sample / "test.en", sample / "test.fr"], tmp_path / "out"
    out.mkdir()
    for number, delay in enumerate(np.linspace(0.4, 11, 6)):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / f"cache{number % 2}")}
        process = start("align", *texts, "-o", out / "F", "-q", env=environment)
        wait_for(lambda pid=process.pid: answers_signals(pid))
        time.sleep(delay)
        process.send_signal(signum)
        output, errors = process.communicate(timeout=TIMEOUT)
        assert not output
        assert process.returncode == 128 + signum, errors.decode()
        assert errors.decode() == f"{WORDS[signum]}: no unfinished file is left\n"
        assert not [*out.iterdir()]


def test_each_line_is_answered_before_the_next(model: Path, sample: Path) -> None:
    sources, targets = ((sample / f"test.{suffix}").read_bytes().splitlines()[:5] for suffix in ("en", "fr"))
    expected = run(
        "align", "-", "-m", model, stdin=b"".join(b"%s ||| %s\n" % p for p in zip(sources, targets, strict=True))
    )
    process = start("align", "-", "-m", model)
    assert process.stdin is not None
    assert process.stdout is not None
    answers = []
    watchdog = threading.Timer(TIMEOUT, process.kill)
    watchdog.start()
    for source, target in zip(sources, targets, strict=True):
        process.stdin.write(b"%s ||| %s\n" % (source, target))
        process.stdin.flush()
        answers.append(process.stdout.readline())
    watchdog.cancel()
    _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert not errors
    assert answers == expected.stdout.splitlines(keepends=True)


def test_a_reader_that_has_had_enough_ends_it_quietly(model: Path) -> None:
    with start("align", "-", "-m", model) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"the house ||| la maison\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b"the house ||| la maison\n")
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(TIMEOUT) == -signal.SIGPIPE


def from_pipes(folder: Path, contents: list[bytes], arguments: Callable[..., list[object]]) -> Any:
    """Run a command whose files are pipes, as the shell's <(...) makes them."""
    paths = [folder / f"pipe{n}" for n in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
    result = run(*arguments(*paths))
    for path in paths:
        path.unlink()
    return result


def test_pipes_are_as_good_as_files(model: Path, sample: Path, tmp_path: Path) -> None:
    source, target, gold = ((sample / f"test.{suffix}").read_bytes() for suffix in ("en", "fr", "wa"))
    expected = run("align", sample / "test", "-m", model).stdout
    assert from_pipes(tmp_path, [source, target], lambda *p: ["align", *p, "-m", model]).stdout == expected
    joint = b"".join(b"%s ||| %s\n" % p for p in zip(source.splitlines(), target.splitlines(), strict=True))
    assert from_pipes(tmp_path, [joint], lambda *p: ["align", *p, "-m", model]).stdout == expected
    talp = run("convert", sample / "test.wa", "-", "--to", "talp").stdout
    assert from_pipes(tmp_path, [gold], lambda *p: ["convert", *p, "-", "--to", "talp"]).stdout == talp
    report = from_pipes(tmp_path, [gold, gold], lambda *p: ["evaluate", *p, "--format", "json"]).stdout
    assert json.loads(report)[0]["recall"] == 100
    train = ["--gold", sample / "test", "-m", tmp_path / "M", "-q"]
    assert from_pipes(tmp_path, [source, target], lambda *p: ["train", *p, *train]).returncode == 0
    assert load(tmp_path / "M").record["pairs"] == len(source.splitlines())


def test_a_pipe_that_ends_early_is_an_error_and_leaves_no_file(model: Path, sample: Path, tmp_path: Path) -> None:
    source, target = ((sample / f"test.{suffix}").read_bytes() for suffix in ("en", "fr"))
    short = b"".join(target.splitlines(keepends=True)[:-1])
    output = tmp_path / "F"
    result = from_pipes(tmp_path, [source, short], lambda *p: ["align", *p, "-m", model, "-o", output])
    assert result.returncode == 1
    n_lines = len(short.splitlines())
    assert f"pipe1:{n_lines}: ends here" in result.stderr.decode()
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_an_error_of_one_line(model: Path, sample: Path, unbuffered: str) -> None:
    full = Path("/dev/full")
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}  # empty: buffered, as where it is not set
    for arguments in (
        ["align", sample / "test", "-m", model, "-o", full],
        ["train", sample / "test", "-m", full, "-q"],
    ):
        result = run(*arguments)
        assert (result.returncode, result.stdout) == (1, b"")
        assert result.stderr.decode() == "/dev/full:0: No space left on device (check the disk)\n"
    for arguments in (
        ["align", sample / "test", "-m", model],
        ["evaluate", sample / "test.wa", sample / "test.wa"],
        ["convert", sample / "test.wa", "-", "--to", "talp"],
        ["symmetrize", sample / "test.wa", sample / "test.wa"],
    ):
        with full.open("wb") as stdout:
            process = start(*arguments, stdout=stdout, env=environment)
            _, errors = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 1
        assert errors.decode() == "-:0: No space left on device (check the disk)\n"


@pytest.mark.parametrize("settings", [{"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_progress_is_shown_on_a_terminal_and_nowhere_else(
    sample: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = start("train", sample / "train", "-m", tmp_path / "M", stderr=theirs, env={**environment, **settings})
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 1 << 16):
            shown += chunk
    except OSError:
        pass  # how Linux tells that the other end is closed
    finally:
        os.close(ours)
    output, _ = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert b"training AER" in output
    assert b"\x1b" not in output
    assert b"alphabetical order; --source/--target change it" in shown, "messages are not wrapped"
    assert shown.endswith(f"model written to {tmp_path / 'M'}\r\n".encode())
    assert (b"counting" in shown) == (settings["TERM"] != "dumb")
    assert (b"\x1b[3" in shown or b"\x1b[9" in shown) == (settings == {"TERM": "xterm"}), "colours"
