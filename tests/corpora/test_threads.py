"""Threads: as many as allowed, answers in order, few held back, an end at an error; shared properties."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from readings import cases
from threadpoolctl import threadpool_info, threadpool_limits

from corpora.threads import _quota, cores, limit_threads, map_threads, one_blas_thread, shared_property, usable_memory


def test_memory_is_that_of_the_machine_or_of_its_container(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = usable_memory.__wrapped__()
    assert 1 << 26 < everything <= 1 << 62
    monkeypatch.setattr("corpora.threads._content", lambda path: "4096\n")
    assert usable_memory.__wrapped__() == 4096
    monkeypatch.setattr("corpora.threads._content", lambda path: "max\n")
    assert usable_memory.__wrapped__() >= everything


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


def test_a_worker_may_end_what_runs_it() -> None:
    """As the garbage collector does, in whatever thread it happens to run."""
    ended: list[BaseException | None] = []
    waiting = threading.Event()

    def work(x: int) -> int:
        if x == 2:
            waiting.wait(60)
            try:
                answers.close()  # type: ignore[attr-defined]
            except BaseException as error:
                ended.append(error)
            else:
                ended.append(None)
        return x

    answers = map_threads(work, range(1000))
    assert next(answers) == 0
    waiting.set()
    deadline = time.monotonic() + 60
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended == [None]


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


def test_a_map_inside_a_worker_stays_in_that_worker() -> None:
    def outer(x: int) -> tuple[int, set[int]]:
        threads = list(map_threads(lambda _: threading.get_ident(), range(20)))
        return threading.get_ident(), set(threads)

    for worker, threads in map_threads(outer, range(8)):
        assert threads == {worker}


@pytest.fixture
def eight_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora.threads._processors", lambda: 8)
    monkeypatch.setattr("corpora.threads._quota", lambda _: None)
    for name in ("ALIGNER_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("eight_processors")
@pytest.mark.parametrize(
    ("ours", "openmp", "numba", "limit", "expected"),
    cases(
        """
        ¦ ¦ ¦ ¦ 8
        ¦ 3 ¦ ¦ ¦ 3
        ¦ ¦ 2 ¦ ¦ 2
        ¦ 3 ¦ 2 ¦ ¦ 2
        ¦ 3,1 ¦ ¦ ¦ 3
        4 ¦ 7 ¦ 6 ¦ 5 ¦ 4
        ¦ 2 ¦ ¦ 5 ¦ 2
        99 ¦ 99 ¦ 99 ¦ 99 ¦ 8
        0 ¦ 0 ¦ -1 ¦ ¦ 8
        two ¦ two ¦ x ¦ ¦ 8
        3 ¦ ¦ ¦ ¦ 3
        3 ¦ ¦ ¦ 2 ¦ 2
        """
    ),
)
def test_the_least_limit_wins(
    ours: str, openmp: str, numba: str, limit: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ALIGNER_THREADS", ours), ("OMP_NUM_THREADS", openmp), ("NUMBA_NUM_THREADS", numba)):
        monkeypatch.setenv(name, value)
    limit_threads(int(limit) if limit else None)
    try:
        assert cores() == int(expected)
    finally:
        limit_threads(None)


def test_a_limit_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="0 threads"):
        limit_threads(0)


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "10000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "max 100000\n"}, None),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ("0::/only/outside\n", {"cpu.max": "400000 100000\n"}, 4),
        (
            "4:memory:/x\n3:cpu,cpuacct:/x\n",
            {"cpu,cpuacct/x/cpu.cfs_quota_us": "250000\n", "cpu,cpuacct/x/cpu.cfs_period_us": "100000\n"},
            3,
        ),
        ("3:cpu:/x\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ("nonsense\n", {"cpu.max": "a b c\n"}, None),
        (None, {}, None),
    ],
)
def test_a_container_has_a_quota(
    groups: str | None, files: dict[str, str], expected: int | None, tmp_path: Path
) -> None:
    if groups is not None:
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(groups)
    for name, content in files.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    assert _quota(tmp_path) == expected


class Shared:
    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work

    @shared_property
    def answer(self) -> object:
        """What the work gives."""
        return self.work()


def in_threads(calls: list[Callable[[], object]]) -> list[object]:
    start = threading.Barrier(len(calls))

    def call(function: Callable[[], object]) -> object:
        start.wait(timeout=10)
        return function()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call, calls))


def test_a_shared_property_is_computed_once() -> None:
    def work() -> object:
        time.sleep(0.05)  # the other threads ask meanwhile
        return object()

    shared = Shared(work)
    assert len(set(in_threads([lambda: shared.answer] * 8))) == 1
    assert set(vars(shared)) == {"work", "answer"}
    assert Shared.answer.__doc__ == "What the work gives."


def test_instances_do_not_wait_for_each_other() -> None:
    both = threading.Barrier(2)

    def work() -> object:
        return both.wait(timeout=10)

    one, other = Shared(work), Shared(work)
    assert sorted(map(str, in_threads([lambda: one.answer, lambda: other.answer]))) == ["0", "1"]


def test_a_shared_property_that_failed_is_computed_again() -> None:
    answers: Iterator[object] = iter([1])
    shared = Shared(lambda: 1 // 0 if next(answers, None) else "well")
    with pytest.raises(ZeroDivisionError):
        _ = shared.answer
    assert set(vars(shared)) == {"work"}, "a lock cannot be pickled"
    assert shared.answer == "well"


def test_no_property_is_cached_without_a_lock() -> None:
    root = Path(__file__).parent.parent.parent
    files = [file for package in ("corpora", "features", "aligner") for file in (root / package).rglob("*.py")]
    assert [file for file in files if "cached_property\n" in file.read_text("utf-8")] == []


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_linear_algebra_has_one_thread() -> None:
    """From the first of several blocks that overlap, in whatever thread, to the end of the last."""
    first, second = one_blas_thread(), one_blas_thread()
    with threadpool_limits(2, user_api="blas"):
        first.__enter__()
        assert blas_threads() == {1}
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == {2}
        with pytest.raises(KeyError), one_blas_thread():
            raise KeyError
        assert blas_threads() == {2}


def test_a_single_item_needs_no_other_thread() -> None:
    threads = [[*map_threads(lambda _: threading.get_ident(), range(n))] for n in (1, 9)]
    assert threads[0] == [threading.get_ident()]
    assert threading.get_ident() not in threads[1]
