"""Make the package of kernels that are compiled ahead: aligner_kernels, in the wheel bitext-aligner-kernels.

    python scripts/kernels.py dist/bitext_aligner-1.0-py3-none-any.whl dist 3.11 3.12 3.13

The program's wheel is installed for each of these Pythons, with one release of numba for all, and compiles what
`aligner warm-up` compiles, for processors of x86-64-v3. A user who installs both wheels has no kernel to compile; with
another version of the program, numba or Python, or another processor, they are passed over. Needs uv.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = """
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"
[project]
name = "bitext-aligner-kernels"
version = "{version}"
description = "Kernels of bitext-aligner, compiled ahead for x86-64-v3 on Linux."
license = "MIT"
requires-python = ">=3.11"
dependencies = ["bitext-aligner=={version}", "numba=={numba}"]
[tool.hatch.build.targets.wheel]
packages = ["aligner_kernels"]
"""

DESCRIBE = """
import json, numba, aligner
from pathlib import Path
from corpora import compiled
root = Path(compiled.__file__).parent.parent
packages = {str(path.parent.relative_to(root)).replace("/", ".")
            for name in ("aligner", "corpora", "features") for path in (root / name).rglob("*.py")}
print(json.dumps({"version": aligner.__version__, "numba": numba.__version__, "ahead": compiled.AHEAD,
    "kernels": compiled.kernel_version(), "packages": {compiled.folder_of(name): name for name in packages}}))
"""


def compile_ahead(wheel: Path, python: str, numba: str, package: Path, work: Path) -> dict[str, str]:
    """Add the kernels of one Python to the package.  numba: what to install of it.  Returns versions by name."""
    folder = work / python
    folder.mkdir()
    places = {"VIRTUAL_ENV": str(folder / "venv"), "NUMBA_CACHE_DIR": str(folder / "kept")}
    target = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | places | target

    def run(*command: str) -> str:
        done = subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    run("uv", "venv", "--quiet", "--python", python, str(folder / "venv"))
    run("uv", "pip", "install", "--quiet", str(wheel), numba)
    run(str(folder / "venv/bin/aligner"), "warm-up", "--quiet")
    found = json.loads(run(str(folder / "venv/bin/python"), "-c", DESCRIBE))
    for path in (folder / "kept").rglob("*.nb[ic]"):
        kept = package / found["ahead"] / found["kernels"] / found["packages"][path.parent.name] / path.name
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, kept)
    return {name: found[name] for name in ("version", "numba")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("out", type=Path, help="folder for the wheel of kernels")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work, project = Path(folder), Path(folder, "project")
        package = project / "aligner_kernels"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text('"""Kernels of bitext-aligner, compiled ahead."""\n')
        numba = "numba"
        for python in given.pythons:
            found = compile_ahead(given.wheel.absolute(), python, numba, package, work)
            numba = f"numba=={found['numba']}"
        (project / "pyproject.toml").write_text(PROJECT.format(**found))
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(work / "dist"), str(project)]
        subprocess.run(build, check=True, stdout=subprocess.PIPE)
        (made,) = (work / "dist").glob("*.whl")
        tag = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", "manylinux_2_17_x86_64", str(made)]
        subprocess.run(tag, check=True, stdout=subprocess.PIPE)
        (made,) = (work / "dist").glob("*.whl")
        print(shutil.copy(made, given.out))


if __name__ == "__main__":
    main()
