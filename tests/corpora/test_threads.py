"""Threads give answers in order, hold few of them back, and stop at an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from corpora.threads import cores, map_threads


def test_answers_come_in_order() -> None:
    def slow_first(x: int) -> int:
        time.sleep(0.02 if x % 5 == 0 else 0)
        return x * x

    assert list(map_threads(slow_first, range(40))) == [x * x for x in range(40)]
    assert list(map_threads(slow_first, [])) == []


def test_items_are_taken_as_answers_are() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for x in range(1000):
            taken.append(x)
            yield x

    answers = map_threads(lambda x: x, items())
    for answer in range(50):
        assert next(answers) == answer
        assert len(taken) <= answer + cores() + 2
    answers.close()  # type: ignore[attr-defined]
    assert len(taken) < 60


@pytest.mark.parametrize("where", ["function", "items", "caller"])
def test_an_error_ends_the_threads(where: str) -> None:
    before = threading.active_count()

    def items() -> Iterator[int]:
        yield from range(20)
        if where == "items":
            raise KeyError
        yield from range(20, 10_000)

    def work(x: int) -> int:
        if where == "function" and x == 20:
            raise KeyError
        done.append(x)
        return x

    def run() -> None:
        for x in map_threads(work, items()):
            if where == "caller" and x == 20:
                raise KeyError

    done: list[int] = []
    with pytest.raises(KeyError):
        run()
    assert len(done) < 100
    assert threading.active_count() == before
