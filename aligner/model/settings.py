"""AlignSettings: all that the links of a text depend on, for the command, its workers and journal, and Python."""

import re
import sys
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal

from aligner.progress import ignore
from corpora import SettingError
from corpora.reading import Reading
from corpora.settings import changed, check, choices, refuse_pairs, same, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.errors import BrokenLine
    from corpora.skipping import Skipping

Candidates = Literal["fewer", "likely", "all"]
LongPairs = Literal["empty", "drop", "error"]
Symmetrization = Literal[
    "forward",
    "reverse",
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "intersect",
    "gd",
    "gdf",
    "gdfa",
]
Decoding = Literal["assignment", Symmetrization]

THRESHOLD = 0.5
"""Posterior that the links of `unsupervised` are above, where none is given."""

_data = partial(setting, panel="Data")
_unsupervised = partial(setting, panel="Without a model")


def parse_shard(shard: str) -> tuple[int, int]:
    """Parse the number of a shard and how many there are, like 3/8.  Raises SettingError."""
    parts = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", shard)
    if parts is None or not 1 <= int(parts[1]) <= int(parts[2]):
        raise SettingError(f"{shard!r} is not I/N with I from 1 to N (give one like 3/8)")
    return int(parts[1]), int(parts[2])


@dataclass(frozen=True)
class AlignSettings:
    """How text is aligned.  Raises SettingError for what cannot be, and for what has no effect beside the others.

    model: the file of a trained model; without it the text's own statistics are counted.
    links: files of other aligners' links of the pairs, each as FILE or KIND=FILE, see `corpora.link_files.KINDS`.
    offset: added to the score of every edge; above 0 there are more links.
    risk: expected share of wrong links of a pair, see `Model.with_risk`.
    tokenize: split off punctuation and characters of scripts without spaces; the links count these tokens.
    keep: characters inside words that are not split off, see `corpora.apostrophes.tokenizing`.
    stem: count words by the lemmas or stems of `source` and `target`, see `corpora.stemming`; for little text.
    columns, source, target, untranslated: how a corpus is read, see `corpora.readers.open_corpus`.
    shard: (i, n), the i-th of n parts.
    max_length, long_pairs: pairs with more words on a side, 2,409 by default, have no links, see `corpora.skipping`.
    skip_bad: so do lines that are no pair.
    unsupervised: leave the default weights out; a link's posterior, the geometric mean of both directions', is above
    this, 0.5 by default, from 0 to 1; the lower, the more links [LTK06].
    decoding: leave them out, too. assignment: the matching of greatest sum of posterior minus `unsupervised`, at most
    one link a word; others: the likeliest link or NULL of each word in each direction, combined as
    `corpora.symmetrize` says; forward has one for each target word, reverse for each source word.
    priors: a file of counts of other text, see `features.translation.priors`.
    dictionary: files that `corpora.dictionaries` reads, see `features.translation.dictionary`.
    sample: of more pairs than these a random sample is counted.

    [LTK06] Liang, Taskar and Klein 2006, Alignment by agreement.
    """

    model: str | None = setting(
        None, "Trained model; without it: default weights.", "m", panel="Output", metavar="MODEL"
    )
    links: tuple[str, ...] = _data(
        (),
        "Another aligner's links, i-j or i-j:p; KIND is neural or statistical; repeatable.",
        metavar="[KIND=]FILE",
    )
    offset: float = setting(
        0.0,
        "More links (above 0; 1.5 for high recall) or fewer (below 0: for precision, or if gold has possible links).",
        panel="Links",
        metavar="S",
    )
    risk: float | None = setting(
        None,
        "Links of which at most this share is wrong: of each pair's, on average; a model of `calibrate` knows which.",
        panel="Links",
        metavar="R",
    )
    tokenize: bool = _data(False, "Split off punctuation and Han, Kana, Thai, Lao, Khmer letters.")
    keep: str | None = _data(
        None,
        "With `tokenize`: stay inside words where they are between letters; of SRC,TGT too.",
        metavar="CHARS",
        hidden=True,
        shown="apostrophes, if they are letters of the text",
    )
    stem: bool = _data(False, "Count words by lemmas or stems of the two languages: for little text.", hidden=True)
    columns: tuple[str, str] | None = same(Reading, "columns")
    shard: tuple[int, int] | None = _data(
        None, "Align the I-th of N equal parts only (with -m).", metavar="I/N", hidden=True, parser=parse_shard
    )
    max_length: int | None = _data(
        None,
        "Leave a pair empty if a side has more words.",
        least=1,
        metavar="N",
        hidden=True,
        shown="2409: at most 1 GiB a pair",
    )
    long_pairs: LongPairs = setting("empty", "Pairs with more words than may be: an empty line, no line, or the end.")
    skip_bad: bool = _data(False, "Leave a pair empty if its line is broken, with a message.", hidden=True)
    unsupervised: float | None = _unsupervised(
        None,
        "Leave the default weights out; link what has a posterior above P.",
        least=0,
        most=1,
        metavar="[P]",
        shown="0.5",
        hidden=True,
    )
    decoding: Decoding | None = _unsupervised(
        None,
        f"Leave them out, too; posteriors become links by {', '.join(choices(Decoding))}.",
        metavar="DECODING",
        hidden=True,
    )
    priors: str | None = _data(
        None,
        "Priors of eflomal, or a table of fast_align -p: counts to begin with.",
        metavar="FILE",
        hidden=True,
    )
    dictionary: tuple[str, ...] = _data(
        (), "A dictionary: FreeDict, EDICT, TBX, XLSX, source TAB target ...; repeatable.", metavar="FILE"
    )
    sample: int | None = _data(None, "Of more pairs count a random sample.", least=1, metavar="N", hidden=True)
    seed: int = setting(0, "Seed of the sample.", least=0)
    candidates: Candidates | None = setting(None, "Word pairs that may be links.", shown="the model's, or fewer")
    null: float = setting(0.2, "Prior probability that a word translates nothing; the higher, the fewer links.")
    iterations: int = setting(1, "Passes of the HMM over the text, for each lexicon.", least=1, most=1000)
    seconds: float = setting(
        inf,
        "Learn no longer from the text; a minimum is done in any case, and the result depends on the machine.",
        least=0,
    )
    source: str | None = same(Reading, "source")
    target: str | None = same(Reading, "target")
    untranslated: bool = same(Reading, "untranslated")

    def __post_init__(self) -> None:
        check(self)
        check_offset(self.offset)
        if not 0.0 < self.null < 1.0:
            raise SettingError(f"`null` must be between 0 and 1, not {self.null}")
        refuse_pairs(
            changed(self),
            (
                "unsupervised decoding null iterations seconds priors dictionary sample tokenize keep stem",
                "model",
                "which is trained already",
            ),
            ("max_length skip_bad shard long_pairs", "links", "whose pairs are all aligned, in one run"),
            ("offset links candidates sample", "unsupervised decoding", "which leaves the default weights out"),
            ("offset candidates", "risk", "which decides how many links there are"),
        )
        if self.risk is not None and self.model is None:
            raise SettingError("`risk` needs a `model` that labelled pairs have calibrated (aligner calibrate)")
        if self.shard and self.model is None:
            raise SettingError("`shard` needs a `model`: without one all text is read before any is aligned")
        if self.keep is not None and not self.tokenize:
            raise SettingError("`keep` has no effect without `tokenize`")
        if self.seed and self.sample is None:
            raise SettingError("`seed` has no effect without `sample`")
        if self.unsupervised is not None and self.decoding not in (None, "assignment"):
            raise SettingError(f"`unsupervised` has no effect with `decoding` {self.decoding}, which has no threshold")

    @property
    def reading(self) -> Reading:
        return Reading(self.source, self.target, self.columns, self.untranslated)

    def skipping(self, on_broken: "Callable[[BrokenLine], object]" = ignore) -> "Skipping":
        """The rules by which pairs are left empty; those with links of other aligners may have any number of words.

        on_broken: called for each broken line, with `skip_bad`.
        """
        from corpora.skipping import MAX_LENGTH, Skipping

        longest = sys.maxsize if self.links else MAX_LENGTH if self.max_length is None else self.max_length
        return Skipping(longest, self.long_pairs, on_broken if self.skip_bad else None)


def check_offset(offset: float) -> None:
    """Raise SettingError unless it is from -1000 to 1000: scores are of the size of 1, that is all links or none."""
    if not abs(offset) <= 1000.0:
        raise SettingError(f"an offset of {offset} is not possible (give one from -1000 to 1000; -1 to 1 is usual)")


def check_risk(risk: float) -> None:
    """Raise SettingError unless it is above 0 and below 1."""
    if not 0.0 < risk < 1.0:
        raise SettingError(f"a risk of {risk} is not possible (give a share of wrong links like 0.05)")
