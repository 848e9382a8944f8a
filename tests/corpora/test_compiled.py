"""Where compiled kernels are kept: for whom nothing can be written, after a change of the code, and in old folders."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import llvmlite.binding
import pytest

import corpora
from corpora import compiled

pytestmark = pytest.mark.slow

KERNELS = """
from typing import NamedTuple
from corpora.compiled import compiled
class Old(NamedTuple):
    x: float
@compiled
def double(record):
    return 2 * record.x
@compiled
def quadruple(record):
    return double(record) + double(record)
"""

CALL = """
from corpora.kernels import {record}, quadruple
print(quadruple({record}(3.0)), sum(quadruple.stats.cache_hits.values()), quadruple.stats.cache_path)
"""

DROP_CAPABILITY, OVERRIDE_PERMISSIONS = 24, 1


def obey_permissions() -> None:
    """In a new process: let the superuser be a user like others."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(DROP_CAPABILITY, OVERRIDE_PERMISSIONS, 0, 0, 0)


class Program:
    """A copy of the ground module with kernels beside it, without a home."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.code = folder, folder / "program" / "corpora"
        self.temporary = folder / "temporary"
        self.code.mkdir(parents=True)
        self.temporary.mkdir()
        for name in ("__init__.py", "compiled.py"):
            shutil.copyfile(Path(corpora.__file__).with_name(name), self.code / name)
        self.write(KERNELS)

    def write(self, kernels: str, name: str = "kernels") -> None:
        (self.code / f"{name}.py").write_text(kernels)

    def call(self, record: str = "Old", **variables: object) -> tuple[float, int, Path, list[str]]:
        """What quadruple(3) is, how often it was found compiled, and where; and lines of warnings."""
        given = {name: str(value) for name, value in variables.items()}
        nowhere = {"HOME": "/dev/null", "TMPDIR": str(self.temporary), "PYTHONPATH": str(self.code.parent)}
        nowhere["PYTHONDONTWRITEBYTECODE"] = "1"  # which would be taken for that of another text of the same second
        inherited = {
            name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
        }
        run = subprocess.run(
            [sys.executable, "-c", CALL.format(record=record)],
            capture_output=True,
            text=True,
            cwd="/",
            env={**inherited, **nowhere, **given},
            preexec_fn=obey_permissions,
        )
        assert run.returncode == 0, run.stderr
        value, hits, path = run.stdout.split()
        return float(value), int(hits), Path(path), [line for line in run.stderr.splitlines() if "Warning" in line]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.mark.parametrize(
    ("variables", "mode", "place"),
    [
        ({}, 0o755, "program/corpora/__pycache__"),
        ({"NUMBA_CACHE_DIR": "mine"}, 0o755, "mine"),
        ({"HOME": "."}, 0o555, ".cache/aligner"),
    ],
    ids=["beside the program", "where the user wants", "of a program that can only be read"],
)
def test_where_kernels_are_kept(program: Program, variables: dict[str, str], mode: int, place: str) -> None:
    program.code.chmod(mode)
    for hits in (0, 1):
        value, found, path, warned = program.call(**{name: program.folder / of for name, of in variables.items()})
        assert (value, found, warned) == (12.0, hits, [])
        assert path.is_relative_to(program.folder / place)


def test_without_a_home_kernels_are_temporary(program: Program) -> None:
    """And one line says so; numba gave up: cannot cache function, no locator available."""
    program.code.chmod(0o555)
    for hits in (0, 1):
        value, found, path, (line,) = program.call()
        assert (value, found) == (12.0, hits)
        assert path.is_relative_to(program.temporary / f"aligner-{os.geteuid()}")
        assert f"UserWarning: compiled kernels cannot be kept in {program.code}/__pycache__ or /dev/null/.cache" in line
        assert "(set NUMBA_CACHE_DIR to a folder that can be written)" in line


def test_kernels_in_a_folder_that_can_only_be_read_are_used(program: Program) -> None:
    kept = program.folder / "kept"
    assert program.call(NUMBA_CACHE_DIR=kept)[:2] == (12.0, 0)
    for folder, _, _ in os.walk(kept):
        Path(folder).chmod(0o555)
    value, found, path, (line,) = program.call(NUMBA_CACHE_DIR=kept)
    assert (value, found) == (12.0, 1)
    assert path.is_relative_to(program.temporary)
    assert str(kept) in line


@pytest.fixture
def ahead(program: Program) -> Path:
    """Kernels of the program, compiled elsewhere for a kind of processor, in the form of `scripts/kernels.py`."""
    if not all(llvmlite.binding.get_host_cpu_features().get(name) for name in ("avx2", "bmi2", "fma")):
        pytest.skip("this processor is not of x86-64-v3")
    elsewhere = program.folder / "elsewhere"
    program.call(NUMBA_CACHE_DIR=elsewhere, NUMBA_CPU_NAME="x86-64-v3", NUMBA_CPU_FEATURES="")
    (kept,) = elsewhere.iterdir()
    package = program.code.parent / "aligner_kernels"
    folder = package / compiled.AHEAD / kept.name.removeprefix("aligner-kernels-")
    folder.mkdir(parents=True)
    (package / "__init__.py").touch()
    (kernels,) = kept.iterdir()
    shutil.move(kernels, folder / "corpora")
    shutil.rmtree(elsewhere)
    return folder


def test_kernels_compiled_ahead_are_used_wherever_the_program_is(program: Program, ahead: Path) -> None:
    moved = program.folder / "moved"
    program.code.parent.rename(moved)
    program.code = moved / "corpora"
    for _ in range(2):
        value, found, path, warned = program.call()
        assert (value, found, warned) == (12.0, 1, [])
        assert path.is_relative_to(program.code / "__pycache__")
    assert program.call(NUMBA_CPU_NAME="generic")[:2] == (12.0, 0)  # the processor that the user names


@pytest.mark.parametrize("change", ["code", "numba or Python"])
def test_kernels_compiled_ahead_for_others_are_passed_over(program: Program, ahead: Path, change: str) -> None:
    if change == "code":
        program.write(KERNELS.replace("2 *", "3 *"))
    else:
        ahead.parent.rename(ahead.parent.with_name("numba-0.1-cpython-39"))
    value, found, path, warned = program.call()
    assert (value, found, warned) == (18.0 if change == "code" else 12.0, 0, [])
    assert "x86-64-v3" not in str(path), "nor are others compiled for such a processor"


def test_a_temporary_folder_of_another_user_is_not_trusted(program: Program) -> None:
    """What is read from it would be run."""
    (program.temporary / f"aligner-{os.geteuid()}").mkdir(mode=0o777)
    (program.temporary / f"aligner-{os.geteuid()}").chmod(0o777)
    value, _, path, (line,) = program.call(NUMBA_CACHE_DIR="/dev/null/nothing")
    assert (value, path) == (12.0, Path("None"))
    assert "every process compiles them again" in line


def test_kernels_follow_what_they_depend_on_and_few_versions_are_kept(program: Program) -> None:
    """A record that is gone, which an index of numba cannot be read without, and a kernel of another file."""
    assert program.call()[0] == 12.0
    program.write(KERNELS.replace("Old", "New"))
    assert program.call("New")[:2] == (12.0, 0)
    double = KERNELS[: KERNELS.index("@compiled\ndef quadruple")]
    program.write(double, "other")
    program.write(KERNELS.replace(double, "\nfrom corpora.other import Old, compiled, double\n"))
    assert program.call()[0] == 12.0
    program.write(double.replace("2 *", "5 *"), "other")
    value, _, path, _ = program.call()
    assert value == 30.0
    versions = [*(program.code / "__pycache__").glob("aligner-kernels-*")]
    assert len(versions) == 3
    assert path.parent in versions
