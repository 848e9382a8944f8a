"""What other systems lack is not needed: signals and modules of POSIX, a file system that knows owners, UTF-8 streams.

Nobody has run the program on Windows or macOS here: a Linux without what they lack stands for them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LACKING = """if True:
    import os, signal, sys
    for name in ("SIGPIPE", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGKILL", "SIGQUIT", "pthread_sigmask"):
        delattr(signal, name)
    for name in ("fork", "getuid", "geteuid", "getpgid", "killpg", "fchmod", "chown", "sched_getaffinity", "mkfifo"):
        delattr(os, name)
    for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "readline"):
        sys.modules[name] = None
    from aligner.cli import main
    sys.argv = ["aligner", *sys.argv[1:]]
    main()
"""


def run_without(*arguments: object, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a Python that lacks all of this."""
    command = [sys.executable, "-X", "utf8=0", "-c", LACKING, *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, timeout=300, check=False, env={**os.environ, **environment}
    )


def test_commands_run_without_what_posix_has(sample: Path, tmp_path: Path) -> None:
    links, model, page = (tmp_path / name for name in ("links", "M", "page.html"))
    texts = sample / "test.en", sample / "test.fr"
    for arguments in (
        ("align", *texts, "-o", links),
        ("evaluate", sample / "test.wa", links),
        ("train", sample / "train", "-m", model, "--set", "cross_validate=0", "-q"),
        ("align", *texts, "-m", model, "--resume", "-o", tmp_path / "resumed.links"),
        ("report", *texts, links, "-o", page),
        ("show", *texts, links, "-n", "1"),
        ("convert", links, tmp_path / "t.tmx", "--text", sample / "test"),
        ("terms", *texts, links, "-o", tmp_path / "terms.tsv"),
    ):
        done = run_without(*arguments)
        assert done.returncode == 0, done.stderr.decode()
    assert links.read_bytes().count(b"\n") == 64
    assert b"\r" not in links.read_bytes()


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_streams_are_utf8_whatever_the_system_says(encoding: str) -> None:
    """As consoles of Windows say another encoding; a text that it lacks goes through all the same."""
    pair = "дом стоит ||| 家 が ある\n".encode() * 3
    done = run_without("align", "-", "--format", "jsonl", "-q", stdin=pair, PYTHONIOENCODING=encoding, LC_ALL="C")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.count("家".encode()) == 3
    missing = run_without("align", "дом.en", "家.fr", PYTHONIOENCODING=encoding)
    assert missing.returncode == 1
    assert "Traceback" not in missing.stderr.decode()


def test_lines_that_end_as_in_windows_are_the_same_lines(sample: Path, tmp_path: Path) -> None:
    """Of both texts, also where one has them alone."""
    found = []
    for name, ending in (("unix", b"\n"), ("windows", b"\r\n")):
        for side in ("en", "fr"):
            (tmp_path / f"{name}.{side}").write_bytes((sample / f"test.{side}").read_bytes().replace(b"\n", ending))
        done = run_without("align", tmp_path / f"{name}.en", tmp_path / f"{name}.fr", "-q")
        found.append(done.stdout)
    assert found[0] == found[1] != b""
