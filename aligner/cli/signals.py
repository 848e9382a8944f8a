"""Ctrl-C and SIGTERM: whenever they come, the program ends gently and with one exit code."""

from __future__ import annotations

import signal
import sys
from types import FrameType

SIGNALLED = 128
"""Added to the number of a signal, as shells do."""

ENDING = (signal.SIGINT, signal.SIGTERM)

_HAS_TIMER = hasattr(signal, "setitimer")
_MOMENT = 0.05

received: list[int] = []
"""The signals that have asked the program to end, in their order."""


def listen_to_signals() -> None:
    """Answer signals by KeyboardInterrupt, but for those that the parent process wants ignored."""
    for signum in ENDING:
        if signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, _answer)
    sys.unraisablehook = _answer_lost


def ignore_signals() -> None:
    """Let no signal change any more how the program ends: Python itself would answer one with a code of its own."""
    for signum in ENDING:
        signal.signal(signum, signal.SIG_IGN)
    if _HAS_TIMER:
        signal.setitimer(signal.ITIMER_REAL, 0)
    # CPython remembers an interrupt inside exec(), which libraries use, as one that nobody answered, and in the end
    # kills itself by SIGINT whatever the exit code. The next exec() makes it forget.
    exec("")


def ended_by() -> tuple[str, int]:
    """How the user, or the system, has ended the work: in a word and as an exit code."""
    first = received[0] if received else signal.SIGINT
    return "interrupted" if first == signal.SIGINT else "terminated", SIGNALLED + first


def comes_of_a_signal(error: BaseException) -> bool:
    """Whether a signal is behind an error.

    One that comes while a compiled function returns is wrapped in a SystemError, or in several, and libraries may fail
    in other ways where one has stopped them halfway.
    """
    first = error
    while first.__cause__ is not None:
        first = first.__cause__
    return bool(received) or isinstance(first, KeyboardInterrupt)


def _answer(signum: int, frame: FrameType | None) -> None:
    if _HAS_TIMER and _is_delicate(frame):
        _repeat(signum)
        return
    received.append(signum)
    raise KeyboardInterrupt


def _answer_lost(lost: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised in some callbacks, also by objects that a signal has left half made."""
    if not received:
        sys.__unraisablehook__(lost)
    elif _HAS_TIMER and issubclass(lost.exc_type, KeyboardInterrupt):
        _repeat(received[-1])


def _is_delicate(frame: FrameType | None) -> bool:
    """Whether a signal must not be answered here.

    Some libraries take any exception while they are imported for a part that is not installed, and go on; llvmlite
    drops exceptions in its callbacks, and crashes with objects that are half made.
    """
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith("<frozen importlib") or "llvmlite" in path:
            return True
        frame = frame.f_back
    return False


def _repeat(signum: int) -> None:
    """Answer a signal a moment later: by a timer, as a thread might still run when Python has ended."""
    signal.signal(signal.SIGALRM, lambda _, frame: _answer(signum, frame))
    signal.setitimer(signal.ITIMER_REAL, _MOMENT)
