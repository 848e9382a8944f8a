"""Other people's programs, each in an environment of its own, and what they make of random cases."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "aligner-neighbours"
"""Where environments stay from one run to the next, by name and versions."""

REQUIRED = os.environ.get("ALIGNER_NEIGHBOURS") == "required"
"""Whether a neighbour that cannot be installed is a failure; else its tests skip."""

TIMEOUT = 900
"""Seconds after which a neighbour counts as hanging."""

ODD = (
    "house l' été Haus, naïve e\u0301t 東京 ना \U0001f600 a-b 0-0 1:2 <NULL> <b> &amp; & \" '' = # _ ... ||| x|y %s "
    "\\n {} № ½ I\u0307 ß ſ ﬁ \u200bx שלום \u2014 @-@ www.a.b/c?d=1,5 10.000 =1+1 -2 +x @y '=x 1e5 TRUE 007 1/2 50%"
).split(" ")
"""Tokens without white space that some program may take for more than a word."""


@dataclass(frozen=True)
class Neighbour:
    """A folder with programs of given versions.  variables: of the processes in it."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def command(self, name: str) -> str:
        return str(self.folder / "bin" / name)

    def ask(self, script: str, cases: object, *, node: bool = False) -> Any:
        """What a script prints as JSON, on its last line, of cases that it reads as JSON from standard input."""
        command = ["node", "-e", script] if node else [self.command("python"), "-W", "ignore", "-c", script]
        answer = self.run(*command, stdin=json.dumps(cases))
        return json.loads(answer.splitlines()[-1])

    def run(self, *command: object, stdin: str = "", code: int = 0) -> str:
        """What a command prints that is to end with this code; it begins in the folder of its environment."""
        done = subprocess.run(
            [*map(str, command)],
            input=stdin.encode(),
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": "", "PYTHONUTF8": "1", **self.variables},
            capture_output=True,
            timeout=TIMEOUT,
        )
        assert done.returncode == code, done.stderr.decode()[-3000:]
        return done.stdout.decode()


def environment(name: str, *pins: str, python: str = sys.executable) -> Neighbour:
    """The environment of a neighbour, which is made where it is not yet there.  pins: ``package==version`` of PyPI."""
    with _made_once(name, (python, *pins)) as (folder, is_new):
        if is_new:
            uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
            versions = [str(path) for path in Path.home().glob(".pyenv/versions/*/bin")]  # which pyenv does not show
            path = os.pathsep.join([os.environ["PATH"], *versions])
            _install([uv, "venv", "--quiet", "--clear", "--python", python, str(folder)], path)
            _install([uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *pins], path)
    return Neighbour(folder)


def environment_with_ours(name: str, *pins: str) -> Neighbour:
    """An environment in which our packages can be imported too, from where they are."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return Neighbour(environment(name, *pins, *project["dependencies"]).folder, {"PYTHONPATH": str(ROOT)})


def node_environment(name: str, *pins: str) -> Neighbour:
    """The same of npm, ``package@version``."""
    with _made_once(name, pins) as (folder, is_new):
        if is_new:
            folder.mkdir(exist_ok=True)
            options = "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)
            _install(["npm", "install", *options, *pins], os.environ["PATH"])
    return Neighbour(folder)


def unavailable(why: str) -> NoReturn:
    if REQUIRED:
        pytest.fail(why)
    pytest.skip(why)


@contextmanager
def _made_once(name: str, what: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    """A folder for these versions, and whether it is to be filled; workers of pytest-xdist wait for the first one."""
    folder = CACHE / f"{name}-{hashlib.sha256(' '.join(what).encode()).hexdigest()[:12]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    done = folder.with_suffix(".done")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder, not done.exists()
        done.touch()


def _install(command: list[str], path: str) -> None:
    try:
        done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, timeout=TIMEOUT)
    except FileNotFoundError:
        unavailable(f"there is no {command[0]}")
    if done.returncode != 0:
        unavailable(f"{' '.join(command[-3:])} cannot be installed: {done.stderr.decode()[-300:]}")
