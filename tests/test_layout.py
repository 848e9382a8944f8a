"""The shape of the house: who may import whom, who may print, and how long a file may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = {
    "corpora": {"corpora"},
    "features": {"corpora", "features"},
    "aligner": {"corpora", "features", "aligner"},
}
HEAVY = ("numpy", "numba", "scipy", "nltk", "networkx")
LONGEST = 400

MODULES = sorted(path for package in ALLOWED for path in (ROOT / package).rglob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that are imported anywhere, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""


def test_modules_are_found() -> None:
    assert {path.parent.name for path in MODULES} >= {*ALLOWED, "matching", "solvers"}
    assert len(MODULES) > 40


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_imports_go_to_the_left(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    ours = {module.split(".")[0] for module in imported(ast.parse(path.read_text("utf-8")))} & {*ALLOWED, "tests"}
    assert ours <= ALLOWED[package]


@pytest.mark.parametrize("path", [p for p in MODULES if not name(p).startswith("aligner/cli/")], ids=name)
def test_libraries_do_not_print_or_exit(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in {"print", "exit", "quit", "sys.exit", "os._exit", "breakpoint"}
        if isinstance(node, ast.Raise) and node.exc is not None:
            assert "SystemExit" not in ast.unparse(node.exc)


@pytest.mark.parametrize(
    "path", [*MODULES, *sorted(p for f in ("tests", "scripts") for p in (ROOT / f).rglob("*.py"))], ids=name
)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) < LONGEST


@pytest.mark.parametrize("module", ["aligner", "aligner.cli"])
def test_help_imports_nothing_slow(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "aligner" in run.stdout.split()
    assert not {*HEAVY} & {*run.stdout.split()}
