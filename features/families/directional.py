"""Directional posteriors: by the translation models of each direction, where they need not agree."""

from features.batch import EdgeBatch
from features.families.hmm import on_log_scale
from features.table import Matrix
from features.translation.lexicon import KINDS

NAMES = tuple(f"directional_{name}" for name in ("forward", "reverse", "log", "lexical", "lexical_log"))
LEXICONS = tuple(KINDS)


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Posteriors of the lexicon whose directions were trained apart; each in [0, 1]  [VNT96; BDDM93].

    directional_forward, directional_reverse: of the HMM of each direction.  directional_log: their geometric mean on
    the scale of `families.hmm`.  directional_lexical, directional_lexical_log: this mean by IBM Model 1, and its
    logarithm.

    Training that makes both directions agree keeps the links that both find, mostly one a word. Where a word translates
    into several, one direction alone finds them; and wrong links that agreement has led to are not found here.
    Raises ValueError where the translation models have no such lexicon.
    """
    if batch.posteriors.directional is None:
        raise ValueError("the translation models have no directional lexicon")
    hmm, lexical = (posteriors.part(batch.cells) for posteriors in batch.posteriors.directional)
    out[:, 0] = hmm.forward
    out[:, 1] = hmm.reverse
    out[:, 2] = on_log_scale(hmm.soft)
    out[:, 3] = soft = lexical.soft
    out[:, 4] = on_log_scale(soft)
