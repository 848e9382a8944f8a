"""Compiling ahead, by another process and by ``aligner warm-up``, after which nothing is compiled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import pytest

from aligner.cli import ahead
from tests.commands import TIMEOUT, invoke, start, wait_for

COUNTED = """
import sys
from aligner.cli import main
try:
    main()
finally:
    from corpora.compiled import compilations
    print("compiled", len(compilations.buffer) // 2, file=sys.stderr)
"""


def compile_one() -> None:
    assert numba.njit(lambda number: number + 1)(1) == 2


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands of processes that are started, of which there are none."""
    commands: list[list[str]] = []

    def refuse(command: list[str], **_: object) -> None:
        commands.append(command)
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr("corpora.threads.cores", lambda: 2)
    return commands


def test_the_other_process_begins_with_the_first_compilation_only(started: list[list[str]]) -> None:
    with ahead.compiling_ahead():
        assert not started
        compile_one()
        compile_one()
        assert len(started) == 1
    compile_one()
    assert len(started) == 1


@pytest.mark.parametrize("missing", ["core", "folder"])
def test_there_is_no_other_process_without_a_core_or_a_folder(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing == "core":
        monkeypatch.setattr("corpora.threads.cores", lambda: 1)
    else:
        monkeypatch.setattr("corpora.compiled.kernel_folder", lambda: None)
    with ahead.compiling_ahead():
        compile_one()
    assert not started


@pytest.mark.slow
def test_what_happens_to_the_other_process_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora.threads.cores", lambda: 2)
    monkeypatch.setattr(ahead, "__name__", "no.such.module")
    with ahead.compiling_ahead():
        compile_one()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_other_process_ends_with_its_parent(sample: Path, tmp_path: Path, signum: signal.Signals) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "ALIGNER_THREADS": "2"}
    process = start("align", sample / "test.en", sample / "test.fr", "-q", env=environment)
    found: list[int] = []

    def begun() -> bool:
        threads = Path(f"/proc/{process.pid}/task").iterdir()
        found[:] = [int(pid) for thread in threads for pid in (thread / "children").read_text().split()]
        return bool(found)

    wait_for(begun)
    process.send_signal(signum)
    process.communicate(timeout=TIMEOUT)
    wait_for(lambda: not any(map(alive, found)))


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command that says how many kernels it compiles, with a folder of kernels that is empty at first."""
    kernels = tmp_path_factory.mktemp("kernels")

    def begin(*arguments: object) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
        command = [sys.executable, "-c", COUNTED, *map(str, arguments)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return begin


@pytest.mark.slow
def test_after_two_at_the_same_time_and_a_warm_up_nothing_is_compiled(
    sample: Path, tmp_path: Path, call: Callable[..., subprocess.Popen[bytes]]
) -> None:
    texts = sample / "test.en", sample / "test.fr"
    both = [call("align", *texts, "-q") for _ in range(2)]
    first, second = (process.communicate(timeout=TIMEOUT)[0] for process in both)
    assert first == second == invoke("align", *texts, "-q").stdout_bytes
    warm = call("warm-up")
    assert b" kernels are kept in " in warm.communicate(timeout=TIMEOUT)[1]
    assert warm.returncode == 0
    model = tmp_path / "M"
    for arguments in (
        ["train", sample / "train", "-m", model], ["align", *texts, "-m", model], ["align", *texts],
        ["align", *texts, "--unsupervised"], ["evaluate", sample / "test.wa", sample / "test.wa"], ["warm-up"],
    ):  # fmt: skip
        process = call(*arguments)
        errors = process.communicate(timeout=TIMEOUT)[1].decode()
        assert process.returncode == 0, errors
        assert errors.endswith("compiled 0\n"), errors


KERNELS = """
import sys
import aligner

def compiled():
    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] in ("aligner", "corpora", "features")]
    kernels = {id(v): v for module in modules for v in vars(module).values() if hasattr(v, "signatures")}
    return {(k.__module__, k.__name__, *map(str, s)) for k in kernels.values() for s in k.signatures}
"""

SERVICE = f"""
{KERNELS}
model = aligner.load(sys.argv[1])
model.warm_up()
before = compiled()
assert len(before) > 10
for source, target in (
    ("the", "le"), ("the", "le la les"), ("the a an", "le"), ("", "le"), ("the", ""), ("", ""), ("unseen", "inconnu"),
    ("the " * 9, "le " * 7), ("house " * 260, "maison " * 240), ("the house " * 300, "le maison " * 300),
    ("é" * 70, "e" * 90), ("1990 .", "1,990 ..."),
):
    model.align(source.split(), target.split())
    model.with_offset(9.0).align(source.split(), target.split())
    list(model.align_many([(source.split(), target.split())] * 3))
    print(source[:20], "|", target[:20], "|", *sorted(compiled() - before), sep="\\n  ")
    assert compiled() == before
"""


@pytest.mark.slow
def test_no_sentence_pair_compiles_anything(model: Path) -> None:
    run = subprocess.run([sys.executable, "-c", SERVICE, model], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


AHEAD = f"""
{KERNELS}
from aligner.cli.ahead import call_kernels_of_features

call_kernels_of_features()
made_up = compiled()
assert len(made_up) > 10
from aligner.training.settings import LearnSettings
training = aligner.train(sys.argv[1], learn=LearnSettings(cross_validate=0))
training.model.align("a red house .".split(), "une maison rouge .".split())
print(*sorted(made_up - compiled()), *sorted(made_up), sep="\\n")
names = [kernel[:2] for kernel in compiled()]
assert not [name for name in {{kernel[:2] for kernel in made_up}} if names.count(name) > 1]
families = [kernel for kernel in compiled() - made_up if kernel[0].startswith("features.families")]
assert not families, families
"""


@pytest.mark.slow
def test_what_is_compiled_ahead_is_what_training_and_aligning_call(sample: Path) -> None:
    run = subprocess.run([sys.executable, "-c", AHEAD, sample / "train"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
