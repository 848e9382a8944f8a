"""Which links have which risk, by labelled pairs that a model has not learnt from: see `aligner.model.risk`."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aligner.errors import SettingError
from aligner.model.model import Model
from aligner.training.inputs import LabelledPairs
from corpora.errors import counted
from corpora.journal import read_journal


def measure_risk(model: Model, labelled: LabelledPairs) -> Model:
    """The model with what labelled pairs say of risks, for `Model.with_risk`.

    Raises SettingError where there are none, or some of them have taught the model its weights: these look too good.
    """
    if not len(labelled.links):
        raise SettingError("there are no labelled pairs to measure risks by (give a text with its links)")
    seen = {*labelled.digests} & {*model.record.get("taught", ())}
    if seen:
        what = f"{counted(len(seen), 'labelled pair')} have taught this model its weights, and say nothing of new text"
        raise SettingError(f"{what} (give others, or train with apart=N, which keeps N of them for this)")
    return model.measured(labelled.bitext, labelled.links, labelled.others)


def warn_of_lines(prefixes: Sequence[str]) -> None:
    """Warn where `aligner annotate` has written pairs that are lines in a row, rather than a sample of a text."""
    for prefix in filter(lambda name: Path(f"{name}.journal").is_file(), prefixes):
        head, *entries = read_journal(Path(f"{prefix}.journal")) or [{}]
        works = {int(pair): work for entry in entries for pair, work in entry.get("works", {}).items()}
        accepted = np.sort([pair for pair, work in works.items() if work and work.get("status") == "accepted"])
        in_a_row = np.count_nonzero(np.diff(accepted) == 1)
        if 2 * in_a_row > len(accepted) and 2 * len(accepted) < head.get("pairs", 0):
            what = f"{in_a_row} of {counted(len(accepted), 'labelled pair')} follow the one before in the text"
            hint = "risks are kept for text like a random sample: `aligner annotate` without `order` draws one"
            warnings.warn(f"{prefix}: {what} ({hint})", stacklevel=2)
