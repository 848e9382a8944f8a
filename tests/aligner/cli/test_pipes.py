"""The command as a process: pipes on both ends, full disks and terminals."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from commands import TIMEOUT, on_terminal, rest_of_terminal, run, run_process, start

from aligner.progress import Stage

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")]

FULL = Path("/dev/full")


def test_each_line_is_answered_before_the_next(model: Path, sample: Path) -> None:
    sides = [(sample / f"test.{suffix}").read_bytes().splitlines()[:5] for suffix in ("en", "fr")]
    lines = [b"%s ||| %s\n" % pair for pair in zip(*sides, strict=True)]
    process = start("align", "-", "-m", model, "-q")
    answers = []
    watchdog = threading.Timer(TIMEOUT, process.kill)
    watchdog.start()
    for line in lines:
        process.stdin.write(line)
        process.stdin.flush()
        answers.append(process.stdout.readline())
    watchdog.cancel()
    assert process.communicate(timeout=TIMEOUT) == (b"", b"")
    assert process.returncode == 0
    assert b"".join(answers) == run("align", "-", "-m", model, stdin=b"".join(lines)).stdout_bytes


def test_a_reader_that_has_had_enough_ends_it_quietly(model: Path) -> None:
    with start("align", "-", "-m", model, "-q") as process:
        process.stdin.write(b"the house ||| la maison\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b"the house ||| la maison\n")
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(TIMEOUT) == -signal.SIGPIPE


def said_by(*arguments: object, code: int = 0, **settings: object) -> list[str]:
    """The lines that a process says to its end, but for those of progress."""
    process = start(*arguments, **settings)
    errors = process.communicate(timeout=TIMEOUT)[1].decode()
    assert process.returncode == code, errors
    return [line for line in errors.splitlines() if not line.startswith(("starting: ", "aligner: compiling"))]


with_full_disk = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")


@with_full_disk
@pytest.mark.parametrize(
    ("command", "unbuffered"),
    [
        ("info {M}", ""), ("convert {t}.wa - --to talp -q", ""), ("convert {t}.wa - --to talp -q", "1"),
        ("align {t}.en {t}.fr -m {M} -q", ""), ("train --help-all", ""), ("fast-align -i joint -p table --quiet", ""),
    ],
)  # fmt: skip
def test_standard_output_that_is_full_is_named(
    model: Path, sample: Path, tmp_path: Path, command: str, unbuffered: str
) -> None:
    """And what belongs to it, such as a table of the same links, is not written."""
    (tmp_path / "joint").write_text("a b ||| c d\n")
    arguments = command.format(M=model, t=sample / "test").split()
    with FULL.open("wb") as full:
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        told = said_by(*arguments, code=1, stdout=full, cwd=tmp_path, env=environment)
    assert told == ["-: No space left on device (check the disk)"]
    assert not (tmp_path / "table").exists()


@with_full_disk
def test_a_full_disk_is_an_error_of_one_line(model: Path, sample: Path) -> None:
    for arguments in (
        ["align", sample / "test", "-m", model, "-o", FULL, "-q"],
        ["train", sample / "test", "-m", FULL, "-q", "--set", "cross_validate=0"],
    ):
        result = run(*arguments, code=1)
        assert (result.stdout, result.stderr) == ("", "/dev/full: No space left on device (check the disk)\n")


@pytest.mark.parametrize("settings", [{"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_progress_is_shown_on_a_terminal_and_nowhere_else(
    sample: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    arguments = ["train", sample / "train", "-m", tmp_path / "M", "--set", "cross_validate=0"]
    with on_terminal(*arguments, **settings) as (process, terminal):
        shown = rest_of_terminal(terminal)
        output, _ = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, output) == (0, b"")
    assert b"313 pairs taught. Model" in shown
    assert b"alphabetical order unless a language is chosen" in shown, "messages are not wrapped"
    assert shown.endswith(f" Model written to {tmp_path / 'M'}\r\n".encode())
    assert (b"\x1b[?25l" in shown) == (settings["TERM"] != "dumb")
    news = rf"(?m)^({'|'.join(get_args(Stage))}): " if settings["TERM"] == "dumb" else "starting"
    assert re.search(news.encode(), shown), "a line of any stage within a second, or a bar from the start"
    assert (b"\x1b[3" in shown or b"\x1b[9" in shown) == (settings == {"TERM": "xterm"}), "colours"


def closing(*descriptors: int) -> Callable[[], None]:
    """What closes standard streams in a new process, as a shell's >&- does."""
    return lambda: [os.close(descriptor) for descriptor in descriptors] and None


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_streams(closed: tuple[int, ...], sample: Path, tmp_path: Path) -> None:
    """What needs them is an error of one line, if that can be told; all else works, and no file takes their place."""
    told = b"" if 2 in closed else b"-: standard input or output is closed (open it, or name a file)\n"

    def run_closed(*arguments: object) -> tuple[int, bytes, bytes]:
        process = start(*arguments, preexec_fn=closing(*closed))
        output, errors = process.communicate(timeout=TIMEOUT)
        return process.returncode, output, errors

    assert run_closed("convert", sample / "test.wa", tmp_path / "F", "--to", "talp", "-q") == (0, b"", b"")
    assert (tmp_path / "F").read_bytes() == run("convert", sample / "test.wa", "-", "--to", "talp").stdout_bytes
    for arguments in (["symmetrize", sample / "test.wa", sample / "test.wa", "-q"], ["--version"]):
        expected = (1, b"", told) if 1 in closed else (0, run(*arguments).stdout_bytes, b"")
        assert run_closed(*arguments) == expected
    if 0 in closed:
        assert run_closed("convert", "-", tmp_path / "G", "--to", "talp")[0] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["F"]
    code, output, errors = run_closed("symmetrize", "nothing", "nothing", "-q")
    assert (code, output, errors.startswith(b"nothing: ")) == (1, b"", 2 not in closed)


def test_an_encoding_that_lacks_letters() -> None:
    process = start("train", "-h", env={**os.environ, "PYTHONIOENCODING": "cp1252"})
    output, errors = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, errors) == (0, b"")
    escaped = re.compile(r"\\u([0-9a-f]{4})")
    text = escaped.sub(lambda match: chr(int(match[1], 16)), output.decode("cp1252"))
    assert text == run_process("train", "-h").stdout.decode()


def test_a_warning_is_one_line(model: Path, tmp_path: Path) -> None:
    """And none with -q: of a folder for kernels that cannot be written, say."""
    nowhere = {**os.environ, "NUMBA_CACHE_DIR": "/dev/null/nothing", "TMPDIR": str(tmp_path)}
    (line,) = said_by("info", model, "--features", env=nowhere)
    assert line.startswith("compiled kernels cannot be kept in /dev/null/nothing,")
    assert said_by("info", model, "--features", "-q", env=nowhere) == []
