"""Compiling ahead by ``aligner warm-up``, after which nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import TIMEOUT, invoke

COUNTED = """
import sys
from aligner.cli import main
try:
    main()
finally:
    from corpora.compiled import compilations
    print("compiled", len(compilations.buffer) // 2, file=sys.stderr)
"""


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
