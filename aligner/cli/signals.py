"""Ctrl-C and SIGTERM: the program ends with one line and its exit code, and leaves only what `--resume` goes on from.

A signal ends the process where it is: no exception travels through compiled code, callbacks of the compiler or
libraries being imported, which lose or wrap it, or crash with objects that it leaves half made. Once there is
something to save, the first signal is only noted, and the work looks for it where it can end.
"""

import os
import signal
import sys
import time
from _thread import start_new_thread
from contextlib import suppress
from types import FrameType

from aligner.progress import can_show_progress
from corpora.files import remove_unfinished
from corpora.resuming import unfinished

SIGNALLED = 128
"""Added to the number of a signal, as shells do."""

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}

_ERASE_LINE_AND_SHOW_CURSOR = "\r\x1b[K\x1b[?25h"

_noted: list[int] = []
_ending: list[int] = []
_something_to_keep = False


def listen_to_signals() -> None:
    """From now on handle signals, except those that the parent process has set to be ignored."""
    for signum in WORDS:
        if signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, _answer)


def ignore_signals() -> None:
    """From now on ignore all signals, so that none changes how the program ends."""
    for signum in WORDS:
        signal.signal(signum, signal.SIG_IGN)


def keep_what_there_is() -> None:
    """From now on just note the first signal; a second one ends the process at once."""
    global _something_to_keep
    _something_to_keep = True


def noted_signal() -> signal.Signals | None:
    """The signal that was noted, if any."""
    return signal.Signals(_noted[0]) if _noted else None


def _answer(signum: int, frame: FrameType | None) -> None:
    if _something_to_keep and not _noted:
        _noted.append(signum)
        return
    ignore_signals()
    if _ending:  # by a signal that came in the middle of this
        return
    _ending.append(signum)
    remove_unfinished()
    with suppress(Exception):  # the signal may have come in the middle of a write, or the reader be gone
        start_new_thread(_end, (signum, 1.0))  # or not read; not by `threading`, whose locks may be held right now
        sys.stdout.flush()
    _end(signum)


def _end(signum: int, seconds: float = 0.0) -> None:
    """Tell what is left, and end the process, after some seconds."""
    time.sleep(seconds)
    left = ", ".join(f"{path} waits for the same command" for path in unfinished) or "no unfinished file is left"
    message = f"{WORDS[signal.Signals(signum)]}: {left}\n"
    last = 2
    with suppress(OSError):  # what other threads still say is not for the user: this line is the last
        last, _ = os.dup(2), os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with suppress(OSError):
        os.write(last, ((_ERASE_LINE_AND_SHOW_CURSOR if can_show_progress() else "") + message).encode())
    os._exit(SIGNALLED + signum)
