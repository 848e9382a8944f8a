"""Work in children of a process that has imported and compiled all: quick to start, and free to die."""

import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from commands import hear_signals

LONGEST = 120.0
"""Seconds after which a child hangs. What it does takes less than one on a machine that does nothing else."""


def _forking() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["campaign.warm"])
    return context


class Ended(NamedTuple):
    """How a command ended: its exit code, minus the signal's number if by a signal; what it wrote; its seconds."""

    code: int
    stdout: bytes
    stderr: str


class Child:
    """A command that runs in a folder of its own; its streams are files there."""

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str],
        stdin: Path | None = None,
        stdout: Path | None = None,
        limits: Mapping[int, int] = {},
    ) -> None:
        self._out, self._err = stdout or folder.parent / f"{folder.name}.out", folder.parent / f"{folder.name}.err"
        self._err.unlink(missing_ok=True)
        streams = [str(stdin or os.devnull), str(self._out), str(self._err)]
        self.process: BaseProcess = _forking().Process(target=_command, args=(folder, arguments, streams, dict(limits)))
        self.process.start()
        while not self._err.exists() and self.process.exitcode is None:  # before it is the command
            time.sleep(0.001)

    def end(self, signum: int | None = None, after: float = 0.0) -> Ended:
        """Wait for its end, or send it a signal after some seconds."""
        if signum is not None:
            self.process.join(after)
            if self.process.exitcode is None and self.process.pid is not None:
                os.kill(self.process.pid, signum)
        self.process.join(LONGEST)
        if hangs := self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        assert not hangs, f"does not end\n{self._err.read_text(errors='replace')}"
        assert self.process.exitcode is not None
        out = self._out.read_bytes() if self._out.is_file() else b""
        return Ended(self.process.exitcode, out, self._err.read_text(errors="replace"))


def _command(folder: Path, arguments: Sequence[str], streams: Sequence[str], limits: Mapping[int, int]) -> None:
    """Be the command ``aligner``; never returns."""
    hear_signals()
    for number, path in enumerate(streams):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | (os.O_TRUNC if number and path != "/dev/full" else 0), 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(folder)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        setattr(sys, name, os.fdopen(number, mode, closefd=False))
    sys.argv = ["aligner", *arguments]
    for limit, size in limits.items():
        resource.setrlimit(limit, (size, resource.getrlimit(limit)[1]))
    code: Any = 0
    try:
        from aligner.cli import main

        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 70
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 1
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def in_children(judge: Callable[..., None], count: int, batch: int, *arguments: object) -> None:
    """Call judge(*arguments, number) for each number below count, so many in a child, which may die of it."""
    for first in range(0, count, batch):
        context = _forking()
        at, (ours, theirs) = context.RawValue("q", first), context.Pipe(duplex=False)
        numbers = range(first, min(count, first + batch))
        child = context.Process(target=_judge, args=(judge, numbers, at, theirs, arguments))
        child.start()
        theirs.close()
        end = time.monotonic() + LONGEST
        said = None
        while time.monotonic() < end and said is None and (child.is_alive() or ours.poll()):
            try:
                said = ours.recv() if ours.poll(0.2) else None
            except EOFError:
                break
        hangs = said is None and child.is_alive() and time.monotonic() >= end
        if hangs:
            child.kill()
        child.join()
        ours.close()
        assert not hangs, f"input {at.value} hangs"
        assert said == "", f"input {at.value}: " + (
            said or f"the child ended by {signal.strsignal(-(child.exitcode or 0))}"
        )


def _judge(judge: Callable[..., None], numbers: range, at: Any, pipe: Any, arguments: tuple[object, ...]) -> None:
    try:
        for at.value in numbers:
            judge(*arguments, at.value)
    except BaseException:
        pipe.send(traceback.format_exc())
    else:
        pipe.send("")
