"""A connection to Dask workers, started here or elsewhere, whose errors are one line each."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from aligner._version import __version__
from aligner.errors import AlignerError, SettingError
from corpora.threads import limit_threads

_LOCAL = "local:"
_SECONDS = 10
"""Seconds to wait for the scheduler, and then for a worker."""


_MOST_PROCESSES = 1024

_UNOBSERVED = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
"""Variables of workers that are started here: nobody would look at the profiles that Dask makes of them."""

_STARTED_HERE = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28,  # what a task had is for the next one
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 25,
    "distributed.nanny.pre-spawn-environ.MALLOC_ARENA_MAX": 1,
    "distributed.deploy.lost-worker-timeout": "1 day",  # else a second loss within 15 seconds is for ever
}
"""Settings of Dask for workers that are started here."""


class ClusterError(AlignerError):
    """A cluster that cannot be reached, or cannot go on."""


class Connection:
    """A connection to workers that run tasks.  at_once: the number of their threads at the beginning."""

    def __init__(self, address: str, client: Any) -> None:
        self.address, self._client = address, client
        self.at_once = sum(client.nthreads().values())

    def run(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Call a function of a module with each tuple of arguments; yield (number of call, result) as results come.

        The function may be called more than once with the same arguments, as workers may be lost.
        """
        from distributed import as_completed

        with _in_one_line(self.address):
            rest, pending = iter(range(len(calls))), as_completed(loop=self._client.loop)
            numbers: dict[str, int] = {}

            def submit() -> None:
                for number in rest:
                    future = self._client.submit(_perform, function, *calls[number], pure=False, retries=1)
                    numbers[future.key] = number
                    pending.add(future)
                    return

            for _ in range(2 * self.at_once):  # further results would wait in the workers' memory
                submit()
            for future in pending:
                number, result = numbers.pop(future.key), future.result()
                future.release()
                del future
                submit()
                yield number, result


def _perform(function: Callable[..., Any], *arguments: Any) -> Any:
    limit_threads(1)  # a worker has as many tasks at once as it has threads
    return function(*arguments)


def _worker_version() -> str:
    from aligner import _version

    return _version.__version__


@contextmanager
def connect(address: str) -> Iterator[Connection]:
    """Connect to the scheduler at an address, or start as many worker processes here as ``local:N`` says.

    Raises ClusterError, or SettingError for an address that cannot be one.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        raise ClusterError(f"{address}: Dask is not installed (pip install distributed)") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is said in one line, here
    with ExitStack() as opened, _in_one_line(address):
        where: Any = address
        if address.startswith(_LOCAL):
            number = address.removeprefix(_LOCAL)
            if not number.isdecimal() or not 1 <= int(number) <= _MOST_PROCESSES:
                raise SettingError(f"{address!r} is not local:N, of some processes (give local:2, say)")
            opened.enter_context(dask.config.set(_STARTED_HERE))
            try:
                with _quiet_trackers():
                    cluster = LocalCluster(
                        n_workers=int(number),
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address="127.0.0.1:0",
                        memory_limit=0,
                        silence_logs=logging.CRITICAL,
                        env=_UNOBSERVED,
                    )
            except RuntimeError as error:
                raise ClusterError(f"{address}: a worker ended while it started (run the command again)") from error
            where = opened.enter_context(cluster)
        try:
            client = opened.enter_context(Client(where, timeout=_SECONDS, set_as_default=False, direct_to_workers=True))
        except (OSError, ValueError) as error:
            raise ClusterError(f"{address}: no scheduler answers (start one, or give local:N)") from error
        try:
            client.wait_for_workers(1, timeout=_SECONDS)
        except TimeoutError as error:
            raise ClusterError(f"{address}: the scheduler has no worker (start some)") from error
        _check_versions(address, client)
        yield Connection(address, client)


@contextmanager
def _quiet_trackers() -> Iterator[None]:
    """Silence the warning of semaphore trackers that are started here, after a process that a signal ended."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [before, "ignore:resource_tracker:UserWarning"]))
    try:
        yield
    finally:
        del os.environ["PYTHONWARNINGS"]
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


def _check_versions(address: str, client: Any) -> None:
    """Raise ClusterError unless all workers have this version."""
    try:
        versions = client.run(_worker_version)
    except ModuleNotFoundError as error:
        what = f"a worker lacks {error.name}"
        raise ClusterError(f"{address}: {what} (install aligner {__version__} where the workers are)") from error
    for worker, version in sorted(versions.items()):
        if version != __version__:
            what = f"the worker {worker} has aligner {version}, this is {__version__}"
            raise ClusterError(f"{address}: {what} (install the same version on both)")


@contextmanager
def _in_one_line(address: str) -> Iterator[None]:
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        what = "several workers were lost at the same task"
        raise ClusterError(f"{address}: {what} (give them more memory)") from error
    except (FutureCancelledError, CommClosedError) as error:
        raise ClusterError(f"{address}: the scheduler was lost (start one, and run the command again)") from error
