"""Threads for compiled kernels, which release the interpreter lock: their number, memory, maps, shared properties."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain, islice
from math import ceil
from pathlib import Path
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_VARIABLES = ("ALIGNER_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")

_limit: int | None = None
_this_thread = threading.local()
_blas_lock = threading.Lock()
_blas_limits: list[Any] = []  # for each block of `one_blas_thread` that is running, the limits of the first


def cores() -> int:
    """Threads this process may run at once, at least 1.

    The least of: the processors it may run on, the container's quota of processor time (rounded up), ALIGNER_THREADS,
    OMP_NUM_THREADS, NUMBA_NUM_THREADS, and `limit_threads`.
    """
    variables = [os.environ.get(name, "").partition(",")[0].strip() for name in _VARIABLES]  # OpenMP: a list by level
    wanted = [int(value) for value in variables if value.isdecimal() and int(value) > 0]
    limits = (_processors(), _quota(Path("/")), _limit, *wanted)
    return max(1, min(limit for limit in limits if limit is not None))


def limit_threads(number: int | None) -> None:
    """Let `cores` be at most this from now on, in the whole process; None: no limit.  ValueError below 1."""
    global _limit
    if number is not None and number < 1:
        raise ValueError(f"a limit of {number} threads")
    _limit = number


def _processors() -> int:
    if hasattr(os, "process_cpu_count"):
        return int(os.process_cpu_count() or 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _quota(root: Path) -> int | None:
    """How many processors' time the control groups of this process allow; None: no limit, or no control groups."""
    groups = root / "sys/fs/cgroup"
    quotas = []
    for line in _content(root / "proc/self/cgroup").splitlines():
        number, controllers, path = (*line.split(":", 2), "", "")[:3]
        if number == "0" and not controllers:
            mounts, files = [groups, groups / "unified"], ["cpu.max"]
        elif "cpu" in controllers.split(","):
            mounts, files = [groups / "cpu", groups / controllers], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        else:
            continue
        inner = Path(path.lstrip("/"))
        for folder in [mount / part for mount in mounts for part in (inner, *inner.parents)]:  # a parent's limit holds
            match " ".join(_content(folder / file) for file in files).split():
                case [quota, period] if quota.isdecimal() and period.isdecimal() and int(period) > 0:
                    quotas.append(max(1, ceil(int(quota) / int(period))))
    return min(quotas, default=None)


@cache
def usable_memory() -> int:
    """Bytes of memory that the machine, or this container, has; 2^62 if neither is known."""
    limits = [1 << 62]
    with suppress(AttributeError, OSError, ValueError):  # not on every system
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(ValueError):  # nothing, or "max"
        limits.append(int(_content(Path("/sys/fs/cgroup/memory.max"))))
    return min(limits)


def _content(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def map_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Like `map`, in order, on all cores, with at most a few results waiting to be taken.

    An exception, also one thrown into the caller between two results, cancels calls that have not begun. Inside a
    worker of another `map_threads` it is `map`, as all cores are busy already, and also for a single item.
    """
    rest = iter(items)
    first = list(islice(rest, 2))
    if len(first) < 2 or getattr(_this_thread, "works", False):
        yield from map(function, chain(first, rest))
        return
    workers = cores()
    pool = ThreadPoolExecutor(workers, initializer=lambda: setattr(_this_thread, "works", True))
    try:
        pending = []
        for item in chain(first, rest):
            pending.append(pool.submit(function, item))
            if len(pending) > workers + 1:
                yield pending.pop(0).result()
        while pending:
            yield pending.pop(0).result()
    finally:  # a generator that nobody closed ends wherever it is collected, also in a worker, which cannot join itself
        pool.shutdown(wait=not getattr(_this_thread, "works", False), cancel_futures=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within this block, keep BLAS in the threads that call it, in the whole process.

    Its own threads would wait by spinning, on the cores that ours need, and its sums depend on their number.
    """
    from threadpoolctl import threadpool_limits

    with _blas_lock:
        _blas_limits.append(_blas_limits[0] if _blas_limits else threadpool_limits(1, user_api="blas"))
    try:
        yield
    finally:
        with _blas_lock:
            limits = _blas_limits.pop()
            if not _blas_limits:
                limits.restore_original_limits()


class shared_property(Generic[Result]):
    """Like functools.cached_property, but computed once, by whichever thread is first, while the others wait.

    functools has one lock for all instances until Python 3.11, and none from 3.12 on.
    """

    def __init__(self, function: Callable[[Any], Result]) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__

    def __get__(self, instance: object, owner: type) -> Result:
        if instance is None:
            return self  # type: ignore[return-value]  # of the class itself, for its documentation
        kept, lock = vars(instance), f"{self.name}: lock"  # no attribute has this name
        try:
            with kept.setdefault(lock, threading.RLock()):
                if self.name not in kept:
                    kept[self.name] = self.function(instance)
        finally:
            kept.pop(lock, None)  # which could not be pickled
        result: Result = kept[self.name]
        return result
