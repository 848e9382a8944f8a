"""Compiling: the first processes of all, and ahead by ``aligner warm-up``, after which nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commands import TIMEOUT

COLD = """
import sys, numpy as np
from corpora.bitext import read_bitext
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.translation.training import train_translation

model = train_translation(read_bitext([open_corpus(sys.argv[1])], Normalizer(), Normalizer()))
np.savez(sys.argv[2], **model.to_arrays())
"""


@pytest.mark.slow
def test_two_that_compile_at_the_same_time_give_the_bits_of_kernels_from_the_cache(
    sample: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    files = [tmp_path / name for name in ("one.npz", "other.npz", "cached.npz")]
    commands = [[sys.executable, "-c", COLD, sample / "train", file] for file in files]
    both = [subprocess.Popen(command, env=environment) for command in commands[:2]]
    assert [process.wait(TIMEOUT) for process in both] == [0, 0]
    subprocess.run(commands[2], env=environment, check=True, timeout=TIMEOUT)
    *compiled, cached = map(np.load, files)
    for arrays in compiled:
        assert arrays.files == cached.files
        assert [key for key in cached.files if not np.array_equal(arrays[key], cached[key])] == []


KERNELS = """
import sys, aligner

def compiled():
    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] in ("aligner", "corpora", "features")]
    kernels = {id(v): v for module in modules for v in vars(module).values() if hasattr(v, "signatures")}
    return {(k.__module__, k.__name__, *map(str, s)) for k in kernels.values() for s in k.signatures}
"""

USED = f"""
{KERNELS}
from aligner.cli import main
try:
    main()
finally:
    print("used", *sorted(compiled()), sep="\\n", file=sys.stderr)
"""


@pytest.mark.slow
def test_after_a_warm_up_nothing_is_compiled(sample: Path, tmp_path: Path) -> None:
    """What commands use, of whatever types, the warm-up has compiled or found compiled."""

    def used(*arguments: object) -> set[str]:
        command = [sys.executable, "-c", USED, *map(str, arguments)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        assert run.returncode == 0, run.stderr
        told, _, kernels = run.stderr.partition("used\n")
        assert arguments[0] != "warm-up" or " kernels are kept in " in told
        return {*kernels.splitlines()}

    texts, model = (sample / "test.en", sample / "test.fr"), tmp_path / "M"
    assert len(warm := used("warm-up")) > 25
    for arguments in (
        ["train", sample / "train", "-m", model],
        ["align", *texts, "-m", model],
        ["align", *texts],
        ["align", *texts, "--unsupervised"],
        ["evaluate", sample / "test.wa", sample / "test.wa"],
    ):
        assert used(*arguments) <= warm, arguments


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
