"""A running service: after its warm-up no sentence pair makes it compile anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

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


def test_what_is_compiled_ahead_is_what_training_and_aligning_call(sample: Path) -> None:
    run = subprocess.run([sys.executable, "-c", AHEAD, sample / "train"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
