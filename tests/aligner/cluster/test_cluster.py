"""Counting and aligning on Dask workers: the bits of one machine, whoever is lost, and one line for what goes wrong."""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import TIMEOUT, invoke, run, start, wait_for

import aligner
from aligner.cluster import connection, engine, shards
from aligner.cluster.connection import ClusterError, Connection, connect
from aligner.cluster.engine import ClusterEngine
from corpora import AlignerError
from corpora.bitext import Bitext, BitextBuilder, read_bitext
from corpora.files import remove_unfinished, spill_directory
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.statistics import CorpusStatistics
from features.translation import counting
from features.translation.counting import Engine
from features.translation.expectation import Settings

pytest.importorskip("distributed", reason="distributed is not installed (pip install distributed)")
pytest.importorskip("cloudpickle").register_pickle_by_value(sys.modules[__name__])  # workers cannot import it


@pytest.fixture(scope="module")
def text(sample: Path) -> Bitext:
    return read_bitext([open_corpus(str(sample / "train"))], Normalizer(), Normalizer())


def counted(bitext: Bitext, by: Engine = counting.THIS_MACHINE) -> dict[str, bytes]:
    arrays = CorpusStatistics.from_bitext(bitext, engine=by).to_arrays()
    return {name: f"{array.dtype} {array.shape}".encode() + array.tobytes() for name, array in arrays.items()}


@pytest.fixture(scope="module")
def here(text: Bitext) -> dict[str, bytes]:
    return counted(text)


class Process:
    """A connection to nobody: what is to be called is called here, in another order."""

    def __init__(self, at_once: int) -> None:
        self.at_once, self.rng, self.done = at_once, np.random.default_rng(at_once), []

    def run(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        for number in self.rng.permutation(len(calls)).tolist():
            self.done.append(function.__name__)
            yield number, function(*pickle.loads(pickle.dumps(calls[number])))


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_shards_give_the_bits_of_the_whole(
    text: Bitext, here: dict[str, bytes], at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_CELLS_AT_ONCE", 1000)
    monkeypatch.setattr(shards, "_MOST_CHUNKS", 1)
    process = Process(at_once)
    assert counted(text, ClusterEngine(process, tmp_path)) == here  # type: ignore[arg-type]
    assert all(process.done.count(name) > at_once for name in ("count_words", "merge_words", "expect"))
    assert len(list(tmp_path.glob("text*"))) == 2  # words and their first letters, once each


def test_a_text_without_words_has_no_shard(tmp_path: Path) -> None:
    for pairs in ([], [([], [])]):
        (tmp_path / str(len(pairs))).mkdir()
        bitext = BitextBuilder(Normalizer(), Normalizer()).add_pairs(pairs).bitext()
        assert counted(bitext, ClusterEngine(Process(2), tmp_path / str(len(pairs)))) == counted(bitext)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"", b"\x93NUMPY", b"text"])
def test_damaged_arrays_are_named(content: bytes, tmp_path: Path) -> None:
    (path := tmp_path / "shard0.npz").write_bytes(content)
    with pytest.raises(AlignerError, match=r"shard0\.npz: cannot be read on "):
        shards.load(path)


def test_a_folder_of_spill_files_goes_with_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora.files._spill_folder", tmp_path)
    with spill_directory("test") as folder:
        (folder / "file").touch()
        assert [*tmp_path.iterdir()] == [folder]
        remove_unfinished()
        assert not [*tmp_path.iterdir()]
    with spill_directory("test") as folder:
        (folder / "file").touch()
    assert not [*tmp_path.iterdir()]


@pytest.fixture(scope="module")
def workers() -> Iterator[Connection]:
    with connect("local:2") as connected:
        yield connected


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc")
def test_workers_here_open_nothing_but_loopback(workers: Connection) -> None:
    sockets = {str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()}
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    mine = [line[1] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets]
    assert mine
    assert {place.partition(":")[0] for place in mine} == {"0100007F"}


def once_killed(marker: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Do what was asked, unless nobody has died at it yet."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return function(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


class Deadly:
    """A connection that loses a worker at the first call of each kind."""

    def __init__(self, workers: Connection, folder: Path) -> None:
        self.workers, self.folder, self.at_once = workers, folder, workers.at_once

    def run(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        hmm = function.__name__ == "expect" and calls[0][4]
        marker = self.folder / f"{function.__name__}{' HMM' if hmm else ''}"
        return self.workers.run(once_killed, [(str(marker), function, *call) for call in calls])


@pytest.mark.slow
def test_lost_workers_change_no_bit_of_a_model(
    workers: Connection, text: Bitext, here: dict[str, bytes], tmp_path: Path
) -> None:
    for folder in ("lost", "files"):
        (tmp_path / folder).mkdir()
    deadly: Any = Deadly(workers, tmp_path / "lost")
    assert counted(text, ClusterEngine(deadly, tmp_path / "files")) == here
    lost = {path.name for path in (tmp_path / "lost").iterdir()}
    assert lost == {"count_words", "merge_words", "expect", "expect HMM"}


@pytest.mark.slow
def test_lost_workers_change_no_byte_of_links(
    workers: Connection, sample: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def deadly(address: str) -> Iterator[Deadly]:
        yield Deadly(workers, tmp_path)

    monkeypatch.setattr(connection, "connect", deadly)
    monkeypatch.setattr("aligner.cli.cluster._PAIRS_A_SHARD", 16)
    texts = ["align", sample / "test.en", sample / "test.fr", "-m", model]
    for given in ([], ["--format", "jsonl"], ["--max-length", 12, "--set", "long_pairs=drop"]):
        (tmp_path / "align_shard").unlink(missing_ok=True)
        one, many = (
            run(*texts, *given, "-o", tmp_path / name, "--force", *more)
            for name, more in (
                ("one", []),
                ("many", ["--cluster", "local:2"]),
            )
        )
        assert (tmp_path / "align_shard").exists()
        assert (tmp_path / "many").read_bytes() == (tmp_path / "one").read_bytes()
        numbers = [result.stderr.splitlines()[-1].split(" s, ")[0].rpartition(", ")[0] for result in (one, many)]
        assert numbers[0] == numbers[1] != ""
    assert {path.name for path in tmp_path.iterdir()} == {"one", "many", "align_shard"}


@pytest.mark.slow
def test_commands_use_workers_that_are_there(workers: Connection, sample: Path, model: Path, tmp_path: Path) -> None:
    address = workers._client.scheduler.address
    train = ["train", sample / "train", "--set", "cross_validate=0", "-q"]
    run(*train, "-m", tmp_path / "one")
    run(*train, "-m", tmp_path / "many", "--cluster", address)
    models = [pickle.dumps(aligner.load(tmp_path / name).statistics.to_arrays()) for name in ("one", "many")]
    assert models[0] == models[1]
    run("align", sample / "test.en", sample / "test.fr", "-m", model, "-o", tmp_path / "links", "--cluster", address)
    assert {path.name for path in tmp_path.iterdir()} == {"one", "many", "links"}


def full_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "shard")


@pytest.mark.slow
def test_what_goes_wrong_on_workers_is_said_here(
    workers: Connection, text: Bitext, tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match="No space left on device: 'shard'"):
        list(workers.run(full_disk, [()]))
    counter = ClusterEngine(workers, tmp_path)
    counter.shards(text, Settings.batches)
    shutil.rmtree(tmp_path / "text0")
    with pytest.raises(AlignerError, match=r"shard\d+\.npz: cannot be read on .*a folder that all workers see"):
        counter.cooccurrences(text, 0.002, None)
    monkeypatch.setattr(connection, "__version__", "0.0.0")
    address = workers._client.scheduler.address
    message = refused_on(address, sample, tmp_path)
    assert "has aligner" in message
    assert "this is 0.0.0 (install the same version on both)" in message


def refused_on(address: str, sample: Path, folder: Path) -> str:
    """The message of training that ends, and leaves nothing."""
    before = {*folder.iterdir()}
    result = invoke("train", sample / "train", "-m", folder / "M", "--cluster", address, "-q")
    assert result.exit_code == 1
    assert {*folder.iterdir()} == before
    message: str = result.stderr
    assert message.startswith(f"{address}: ")
    assert message.count("\n") == 1
    return message


def test_without_dask_nothing_begins(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install distributed" in refused_on("local:2", sample, tmp_path)


def test_addresses_and_options_that_cannot_be(sample: Path, tmp_path: Path) -> None:
    for address in ("local:", "local:0", "local:two"):
        result = invoke("train", sample / "train", "-m", tmp_path / "M", "--cluster", address, "-q")
        told = f"'{address}' is not local:N, of some processes (give local:2, say)\n"
        assert (result.exit_code, result.stderr) == (2, told)
    text = [sample / "test.en", sample / "test.fr", "--cluster", "local:2"]
    for more in ([], ["-m", "M"], ["-m", "M", "-o", "links", "--shard", "1/2"], ["-m", "M", "-o", "links", "--resume"]):
        assert invoke("align", *text, *more).exit_code == 2


def test_nobody_at_the_address(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_SECONDS", 0.5)
    assert "no scheduler answers" in refused_on("tcp://127.0.0.1:9", sample, tmp_path)
    assert "no scheduler answers" in refused_on("nowhere", sample, tmp_path)


@pytest.mark.slow
def test_a_scheduler_without_workers_and_one_that_is_lost(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_{}", "--no-dashboard", "--scheduler-file", str(file)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    processes = []

    def begin(name: str, *more: str) -> None:
        processes.append(subprocess.Popen([part.format(name) for part in command] + [*more], **quiet))  # type: ignore[call-overload]

    try:
        begin("scheduler", "--port", "0", "--host", "127.0.0.1")
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        with monkeypatch.context() as patch:
            patch.setattr(connection, "_SECONDS", 1)
            assert "the scheduler has no worker" in refused_on(address, sample, tmp_path)
        begin("worker", "--nthreads", "1", "--no-nanny")
        monkeypatch.setattr(connection, "_SECONDS", TIMEOUT)
        with connect(address) as connected:
            answers = connected.run(time.sleep, [(0.0,), (TIMEOUT,), (TIMEOUT,)])
            assert next(answers) == (0, None)
            processes[0].kill()
            with pytest.raises(ClusterError, match=r"the scheduler was lost \(start one, and run the command again\)"):
                next(answers)
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_ctrl_c_leaves_nothing(sample: Path, tmp_path: Path) -> None:
    texts = [tmp_path / "text.en", tmp_path / "text.fr"]
    for text in texts:  # long enough that counting has not ended when the signal comes
        text.write_bytes(100 * (sample / f"train{text.suffix}").read_bytes())
    with start("train", *texts, "-m", "M", "--cluster", "local:1", cwd=tmp_path) as process:
        wait_for(lambda: [*tmp_path.glob(".aligner-cluster-*/text0/*")] or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + signal.SIGINT, told
    assert told.endswith(b"interrupted: no unfinished file is left\n")  # its workers are gone, too
    assert {*tmp_path.iterdir()} == {*texts}
