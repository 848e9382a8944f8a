"""A model that answers many at once: requests wait in a bounded queue, and the model may be replaced meanwhile."""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

from aligner.errors import AlignerError
from aligner.model.model import Model, load
from aligner.web.serve_requests import Answer, Limits, Refused, answer_all
from corpora.threads import cores

BYTES_AT_ONCE = 1 << 15
"""Requests that wait are worked on together up to this size, some hundred sentence pairs, or 20 ms."""


def open_model(path: str) -> Model:
    """A model that needs nothing any more.  Raises AlignerError."""
    model = load(path, copy=True)  # its file may then be written over
    if model.features.links:
        raise AlignerError(f"{path}: needs other aligners' links, which requests do not have (train one without)")
    model.warm_up()
    gc.collect()
    gc.freeze()  # what is there will stay, and need not be looked at when rubbish is collected
    return model


class Service:
    """A model, and the requests that it is asked; all but the work itself happens in one event loop."""

    def __init__(self, path: str, limits: Limits) -> None:
        self.path, self.limits = path, limits
        self.model = open_model(path)
        self.reloads = {"done": 0, "failed": 0}
        self.taken = 0  # places in the queue
        self._waiting: deque[tuple[bytes, asyncio.Future[Answer]]] = deque()
        self._free = cores()
        self._pool = ThreadPoolExecutor(self._free)
        self._reloading = asyncio.Lock()

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place in the queue, from before a request is read until it is answered.  Raises Refused if it is full."""
        if self.taken >= self.limits.queue:
            raise Refused(503, f"{self.taken} requests are waiting already (try again in a second)")
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1

    async def answer(self, body: bytes) -> Answer:
        """The answer to a request that has a place."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((body, future))
        self._begin()
        return await future

    def _begin(self) -> None:
        """Give what waits to the threads that are free, several requests at once where they are small."""
        while self._waiting and self._free:
            batch = [self._waiting.popleft()]
            size = len(batch[0][0])
            while self._waiting and (size := size + len(self._waiting[0][0])) <= BYTES_AT_ONCE:
                batch.append(self._waiting.popleft())
            bodies, futures = zip(*batch, strict=True)
            self._free -= 1
            work = asyncio.get_running_loop().run_in_executor(self._pool, answer_all, self.model, self.limits, bodies)
            work.add_done_callback(partial(self._end, futures))

    def _end(self, futures: Sequence[asyncio.Future[Answer]], work: asyncio.Future[list[Answer]]) -> None:
        self._free += 1
        for number, future in enumerate(futures):
            if future.cancelled():  # nobody waits any more
                continue
            if error := work.exception():
                future.set_exception(error)
            else:
                future.set_result(work.result()[number])
        self._begin()

    async def reload(self, tell: Callable[[str], None], complain: Callable[[str], None]) -> None:
        """Read the model again, for requests to come; one that cannot be used leaves the old one in place."""
        async with self._reloading:
            try:
                self.model = await asyncio.to_thread(open_model, self.path)
            except (AlignerError, OSError, MemoryError) as error:
                self.reloads["failed"] += 1
                complain(f"the model stays as it was: {error or 'not enough memory'}")
            else:
                self.reloads["done"] += 1
                tell(f"reloaded {self.path}")
