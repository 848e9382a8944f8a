"""Lexical posteriors: how likely each edge is a link by the two words and their rivals, whatever their order."""

from features.batch import EdgeBatch
from features.families import competition
from features.families.hmm import on_log_scale
from features.table import Matrix
from features.translation.lexicon import KINDS

NAMES = (
    *("lexical_forward", "lexical_reverse", "lexical_soft", "lexical_log"),
    *(f"lexical_{name}" for name in competition.NAMES),
)
LEXICONS = tuple(KINDS)


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Posteriors of IBM Model 1 with the lexicons of the HMM; each in [0, 1] but for margins, in [-1, 1]  [BDDM93].

    lexical_forward, lexical_reverse: of each direction, the mean of the lexicons.  lexical_soft: s, their
    geometric mean.  lexical_log: s on the scale of `families.hmm`.  lexical_rank … lexical_mutual_best: as in
    `features.families.competition`.
    """
    lexical = batch.posteriors.lexical
    part = lexical.part(batch.cells)
    out[:, 0] = part.forward
    out[:, 1] = part.reverse
    out[:, 2] = soft = part.soft
    out[:, 3] = on_log_scale(soft)
    competition.fill_standing(batch, lexical.soft, out[:, 4:])
