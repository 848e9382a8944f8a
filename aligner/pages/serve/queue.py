"""A model that serves many requests at once, and may be replaced while it does."""

import asyncio
import gc
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from aligner.errors import AlignerError
from aligner.model.model import Model, load
from aligner.pages.serve.requests import Answer, Limits, answer_all

SHORT = 1 << 14
"""Bytes of a short request, at most; waiting ones are worked on together up to this size, sixty pairs, or 10 ms."""

LONG_AT_ONCE = 1 << 17
"""Bytes up to which waiting requests that are not short are worked on together."""

Work = Callable[[Sequence[bytes]], list[Answer | Exception]]


def open_model(path: str) -> Model:
    """Open a model, and compile or load all that it needs.  Raises AlignerError."""
    model = load(path)
    if model.features.links:
        raise AlignerError(f"{path}: needs other aligners' links, which requests do not have (train one without)")
    model.warm_up()
    gc.collect()
    gc.freeze()  # what is there stays: looking at it whenever rubbish is collected takes 50 ms
    return model


class _Lane:
    """One thread, and the requests that wait for it.

    More threads would be slower: one thread works on all requests at once that have come meanwhile.
    """

    def __init__(self, work: Work, at_once: int) -> None:
        self._work, self._at_once, self._thread = work, at_once, ThreadPoolExecutor(1)
        self._waiting: deque[tuple[bytes, asyncio.Future[Answer]]] = deque()
        self._draining: asyncio.Task[None] | None = None

    def add(self, body: bytes) -> asyncio.Future[Answer]:
        """Queue a request; return its future answer."""
        loop = asyncio.get_running_loop()
        self._waiting.append((body, future := loop.create_future()))
        if self._draining is None or self._draining.done():
            self._draining = loop.create_task(self._drain(loop))
        return future

    async def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting:
            batch, size = [self._waiting.popleft()], 0
            while self._waiting and (size := size + len(batch[-1][0])) + len(self._waiting[0][0]) <= self._at_once:
                batch.append(self._waiting.popleft())
            bodies, futures = zip(*batch, strict=True)
            answers: Sequence[Answer | Exception]
            try:
                answers = await loop.run_in_executor(self._thread, self._work, bodies)
            except Exception as error:  # of the program: it is for whoever waits
                answers = [error] * len(futures)
            for future, answer in zip(futures, answers, strict=True):
                if isinstance(answer, Exception) and not future.done():
                    future.set_exception(answer)
                elif not future.done():  # else it was cancelled
                    future.set_result(answer)


class Service:
    """A model, and the requests that wait for it; all but the aligning happens in one event loop."""

    def __init__(self, path: str, limits: Limits) -> None:
        self.path, self.limits, self.model = path, limits, open_model(path)
        self.reloads = {"done": 0, "failed": 0}
        # None that is short waits for one that is long.
        self._short, self._long = _Lane(self._work, SHORT), _Lane(self._work, LONG_AT_ONCE)
        self._reloading = asyncio.Lock()

    async def answer(self, body: bytes) -> Answer:
        """Answer a request.  Raises HTTPException."""
        return await (self._short if len(body) <= SHORT else self._long).add(body)

    def _work(self, bodies: Sequence[bytes]) -> list[Answer | Exception]:
        return answer_all(self.model, self.limits, bodies)

    async def reload(self, tell: Callable[[str], None], complain: Callable[[str], None]) -> None:
        """Read the model again, for later requests; if it cannot be used, the old one stays."""
        async with self._reloading:
            try:
                self.model = await asyncio.to_thread(open_model, self.path)
            except (AlignerError, OSError, MemoryError) as error:
                self.reloads["failed"] += 1
                return complain(f"the model stays as it was: {error or 'not enough memory'}")
            self.reloads["done"] += 1
            return tell(f"reloaded {self.path}")
