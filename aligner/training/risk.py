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

    Pairs that have taught the model its weights look too good: they are left out, with a warning.
    Raises SettingError where no pair is left.
    """
    new = ~np.isin(labelled.digests, model.record.get("taught", ()))
    seen = f"{np.count_nonzero(~new)} of {counted(len(new), 'labelled pair')} have taught this model its weights"
    if not new.any():
        what = f"there are no labelled pairs to measure risks by: {seen}"
        raise SettingError(f"{what} (give others, or train with apart=N, which keeps N of them for this)")
    if not new.all():
        warnings.warn(f"{seen}, and are left out: they say nothing of new text", stacklevel=2)
        labelled = labelled.take(np.flatnonzero(new))
    return model.measured(labelled.bitext, labelled.links, labelled.others)


def warn_of_lines(prefixes: Sequence[str]) -> None:
    """Warn where `aligner annotate` has written pairs that are lines in a row, rather than a sample of a text."""
    for path in filter(Path.is_file, [Path(f"{prefix}.journal") for prefix in prefixes]):
        head, *entries = read_journal(path) or [{}]
        works = {int(pair): work for entry in entries for pair, work in entry.get("works", {}).items()}
        accepted = np.sort([pair for pair, work in works.items() if work and work.get("status") == "accepted"])
        in_a_row = np.count_nonzero(np.diff(accepted) == 1)
        if 2 * in_a_row > len(accepted) and 2 * len(accepted) < head.get("pairs", 0):
            what = f"{in_a_row} of {counted(len(accepted), 'labelled pair')} follow the one before in the text"
            what += " (risks are kept for text like a random sample: `aligner annotate` without `order` draws one)"
            warnings.warn(f"{path}: {what}", stacklevel=2)
