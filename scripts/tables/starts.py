"""What the first run on a new machine costs, and every later one."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tables import ROOT, markdown, table

SAMPLE = ROOT / "corpora" / "sample"
TEST = str(SAMPLE / "test.en"), str(SAMPLE / "test.fr")
COMMANDS = {
    "aligner align SRC TGT": ["align", *TEST],
    "aligner align -m": ["align", *TEST, "-m", "{model}"],
    "aligner align - -m": ["align", "-", "-m", "{model}"],
    "aligner train": ["train", str(SAMPLE / "train"), "-m", "{out}"],
    "aligner evaluate": ["evaluate", str(SAMPLE / "test.wa"), str(SAMPLE / "test.wa")],
    "aligner warm-up": ["warm-up"],
    "load, align a pair": ["-c", "import aligner; aligner.load('{model}').align(['a', 'house'], ['une', 'maison'])"],
}
COUNTED = """
import atexit, json, sys
def tell():
    if "corpora.compiled" in sys.modules:
        from corpora.compiled import compilations
        depth, since, seconds = 0, 0.0, 0.0
        for at, event in compilations.buffer:
            if event.is_start:
                since = at if depth == 0 else since
            depth += 1 if event.is_start else -1
            seconds += at - since if depth == 0 else 0.0
        json.dump(seconds, open("{told}", "w"))
atexit.register(tell)
"""


@dataclass(frozen=True)
class Start:
    """What a process took.  first: seconds until its first answer.  kernels: that were compiled and kept."""

    wall: float
    first: float
    cpu: float
    compiling: float
    kernels: int


def execute(arguments: list[str], folder: Path, kernels: Path) -> Start:
    """Run a command, or code after -c, with its kernels in a folder."""
    told, out = folder / "told", folder / "out"
    for path in (told, out):
        path.unlink(missing_ok=True)
    given = [part.format(model=folder / "model", out=out) for part in arguments]
    code = given[1] if given[0] == "-c" else "from aligner.cli import main; main()"
    command = [sys.executable, "-c", COUNTED.replace("{told}", str(told)) + code, *given]
    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(kernels), "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "",  # as where pip has compiled all modules
    }  # fmt: skip
    kept = len({*kernels.rglob("*.nbi")})
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"a red house . ||| une maison rouge .\n")
        process.stdin.close()
        process.stdout.read(1)
        first = time.perf_counter() - start
        process.stdout.read()
    if process.returncode != 0:
        sys.exit(f"{' '.join(given)} failed")
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    compiling = json.loads(told.read_text()) if told.exists() else 0.0
    return Start(wall, first, cpu, compiling, len({*kernels.rglob("*.nbi")}) - kept)


@table("starts")
def starts(runs: int = 3) -> str:
    """What the first run on a new machine costs, and every later one.

    Each command is a process on the bundled sample, cold (an empty folder of kernels) and warm. `compiling` are seconds
    of the process in which a kernel was being compiled; CPU seconds and kernels are of all processes that the command
    started.
    runs: of each, of which the one of median wall seconds is shown.
    """
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        execute(["train", str(SAMPLE / "train"), "-m", "{model}"], folder, folder / "first")
        for command, arguments in COMMANDS.items():
            for kind in ("cold", "warm"):
                ran = []
                for number in range(runs):
                    kernels = folder / f"{command}-{number if kind == 'cold' else 0}".replace(" ", "-")
                    ran.append(execute(arguments, folder, kernels))
                found = min(ran, key=lambda run: abs(run.wall - statistics.median(run.wall for run in ran)))
                seconds = (f"{value:.1f}" for value in (found.first, found.wall, found.cpu, found.compiling))
                rows.append([f"`{command}`", kind, *seconds, found.kernels])
                print(*rows[-1], flush=True)
    header = ["process", "kernels", "first answer, s", "seconds", "CPU s", "compiling, s", "kernels compiled"]
    return markdown(header, rows, words=2)
