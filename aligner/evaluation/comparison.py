"""Comparison of the links of systems with gold, and with each other: figures, intervals, paired tests.

Links are given as paths, as `Links`, or as `Alignments` or any sets of (source, target) positions, one a pair.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from aligner._version import __version__
from aligner.evaluation.counts import Interval, Risk, Scores, bootstrap, count, percentile_interval, risk_of, scores
from aligner.evaluation.reading import AnyLinks, name_of, read, read_from, reading, short_names, warn_of_bases
from corpora import SettingError
from corpora.corpus import word_counts
from corpora.errors import CorpusError, counted
from corpora.files import StrPath
from corpora.link_files import INDEX_BASES
from corpora.links import FROM_ONE, Links, check_range
from corpora.paths import is_stream
from corpora.ragged import I64
from corpora.readers import open_corpus
from corpora.reading import Reading
from corpora.spaces import noticing_spaces

_LENGTH_BINS = {"0-10": (0, 10), "11-20": (11, 20), "21-30": (21, 30), "31-40": (31, 40), "41+": (41, np.inf)}


class LengthRow(NamedTuple):
    """The scores of the pairs whose source length is in one bin."""

    lengths: str
    pairs: int
    links: int
    aer: float
    precision: float
    recall: float
    f1: float


class PairedTest(NamedTuple):
    """Paired bootstrap test of a difference in AER on the same gold sentences.

    baseline: the name of the system compared with.
    difference: AER − AER of the baseline, as a fraction; negative where the baseline is worse.
    interval: percentile interval of the difference, at the confidence of the evaluation.
    p_value: two-sided, in (0, 1]. Both systems are scored on the same B resamples of the sentences; with
        d*_b the differences found there,

            p = min(1, 2 (1 + min(#{d*_b ≤ 0}, #{d*_b ≥ 0})) / (B + 1))

        This is Koehn's 2004 count of the resamples on which the better system wins, doubled because no
        side is named beforehand, and with the observed sample counted in so that p is never 0. It is the
        significance level at which an end of the percentile interval reaches 0 (Efron and Tibshirani
        1993, §15.4), so p and interval agree. The bootstrap is optimistic on a handful of sentences.
    holm: the p-value as Holm 1979 corrects it where all pairs of systems are tested.
    is_least: whether p is the least that so many resamples can give.
    """

    baseline: str
    difference: float
    interval: Interval
    p_value: float
    holm: float | None = None
    is_least: bool = False


@dataclass(frozen=True)
class Evaluation:
    """The figures of the links of one system against the gold.

    aer, precision, recall, f1: fractions, over the corpus (micro).
    links, sure, possible: |A|, |S| and |P|, where P includes S.
    intervals: metric -> (low, high), fractions, at the given confidence.
    lengths: whether the source lengths of `by_length` are from the text or the links alone (see `Judging`).
    tests: against the first system, or against each before this one; none for the first system.
    risk: what `Model.with_risk` is about.
    """

    name: str
    gold: str
    aer: float
    precision: float
    recall: float
    f1: float
    links: int
    sure: int
    possible: int
    pairs: int
    confidence: float
    intervals: Mapping[str, Interval]
    lengths: Literal["text", "links"]
    by_length: tuple[LengthRow, ...]
    tests: tuple[PairedTest, ...]
    risk: Risk
    signature: str

    @property
    def paired(self) -> PairedTest | None:
        """The test against the first system."""
        return self.tests[0] if self.tests else None

    def __repr__(self) -> str:
        figures = f"precision {100 * self.precision:.2f} %, recall {100 * self.recall:.2f} %"
        return f"Evaluation({self.name}: AER {100 * self.aer:.2f} %, {figures}, {counted(self.pairs, 'pair')})"

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as JSON values: an object of the list that ``aligner evaluate --format json`` prints.

        Metrics, intervals and differences are percent (0-100); p_value is a probability. `interval` is AER's,
        `intervals` has all. `possible` includes the sure links. `lengths` says whether the lengths in
        `by_length` are of the text or only inferred from the links.
        """
        intervals = {m: [100 * bound for bound in self.intervals[m]] for m in Scores._fields}
        tests = [
            in_percent(t._asdict(), "difference") | {"interval": [100 * b for b in t.interval]} for t in self.tests
        ]
        return {
            **{name: getattr(self, name) for name in ("name", "gold", "links", "sure", "possible", "pairs", "lengths")},
            **{metric: 100 * getattr(self, metric) for metric in Scores._fields},
            "confidence": 100 * self.confidence,
            "interval": intervals["aer"],
            "intervals": intervals,
            "by_length": [in_percent(row._asdict(), *Scores._fields) for row in self.by_length],
            "paired": tests[0] if tests else None,
            "tests": tests,
            "risk": in_percent(self.risk._asdict(), *Risk._fields),
            "signature": self.signature,
        }

    def to_row(self) -> dict[str, Any]:
        """A table row: pairs, links, and each metric with its interval, in percent."""
        found = self.to_dict()
        row = {name: found[name] for name in ("pairs", "links", *Scores._fields)}
        for metric, (low, high) in found["intervals"].items():
            row |= {f"{metric}_low": low, f"{metric}_high": high}
        return row

    def _repr_html_(self) -> str:
        """HTML for notebooks: the figures, and AER by sentence length."""
        from aligner.pages.notebook import draw_evaluation

        return draw_evaluation(self.to_dict(), repr(self))

    def to_frame(self) -> Any:
        """The row of `to_row` as a pandas frame; needs pandas."""
        import pandas

        return pandas.DataFrame(self.to_row(), index=[self.name])


def in_percent(values: Mapping[str, Any], *fractions: str) -> dict[str, Any]:
    """The values, where the named ones, fractions or None, become percents."""
    return {name: 100 * value if name in fractions and value is not None else value for name, value in values.items()}


def evaluate(gold: AnyLinks, answers: AnyLinks, *, baseline: AnyLinks | None = None, **settings: Any) -> Evaluation:
    """Judge links against gold, as the command ``aligner evaluate`` does.

    baseline: links to test the difference in AER against.  settings: see `Judging`.  errors: see `compare`.
    """
    systems = {"baseline": baseline, "answers": answers} if baseline is not None else {"answers": answers}
    names = short_names([name_of(links, name) for name, links in systems.items()])
    return compare(gold, [*systems.values()], names=names, **settings)[-1]


@dataclass(frozen=True)
class Judging:
    """The settings of a comparison.  Raises ValueError if they are out of range.

    text: the corpus of the links.
    source, target, columns, untranslated: how that, or a text given as gold, is read, see `open_corpus`.
    base: the number of a sentence's first word in gold in the Pharaoh format; None: 1 in ``.talp``, 0 elsewhere.
    source_lengths: (n,) tokens of each source sentence; without it and a text, 1 + its last position that is linked.
    all_pairs: test each pair of systems, see `PairedTest.holm`.
    resamples, seed: of the bootstrap over sentence pairs.  confidence: of the intervals, in (0, 1).
    """

    source: str | None = None
    target: str | None = None
    source_lengths: npt.ArrayLike | None = None
    text: StrPath | None = None
    base: int | None = None
    all_pairs: bool = False
    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 12345
    columns: tuple[str, str] | None = None
    untranslated: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.resamples <= 1_000_000 or not 0.0 < self.confidence < 1.0:
            bounds = "must be from 1 to 1,000,000 and confidence"
            raise ValueError(f"resamples {self.resamples} {bounds} {self.confidence} in (0, 1)")
        if self.base not in (None, 0, 1):
            raise ValueError(f"base must be 0 or 1, not {self.base}")


def compare(
    gold: AnyLinks,
    systems: Sequence[AnyLinks] | Mapping[str, AnyLinks],
    *,
    names: Sequence[str] | None = None,
    gold_name: str = "gold",
    **settings: Any,
) -> list[Evaluation]:
    """Judge the links of systems against one gold; every system but the first is also tested against the first.

    gold: may also be the prefix of texts and links, of the languages source and target.
    systems: by their names, or with `names` in the same order; files without names are called by `short_names`.
    gold_name: of gold that is not a file, for messages and the signature.  settings: see `Judging`.

    Raises CorpusError on a broken file, empty gold or another number of pairs, ValueError for settings out of range.
    """
    how = Judging(**settings)
    if isinstance(systems, Mapping):
        names, systems = [*systems], [*systems.values()]
    sentences: list[tuple[int, int]] | None = None
    has_text = isinstance(gold, str | os.PathLike) and not (Path(gold).is_file() or is_stream(gold))
    reading = Reading(how.source, how.target, how.columns, how.untranslated)
    if has_text and how.text is not None:
        raise SettingError("`text` has no effect where gold is a text (leave it out)")
    with_text, source_lengths = str(gold) if has_text else how.text, how.source_lengths
    if with_text is None:
        reading.refuse("is of a text, which is not there", "give one as gold, or as `text`")
    else:
        corpus = open_corpus(with_text, **vars(reading))
        sentences = list(word_counts(noticing_spaces(corpus)))
        source_lengths = [length for length, _ in sentences]
    try:
        if how.base is not None:
            truth = read_from(how.base, corpus.files[-1] if has_text and corpus.has_links else gold, sentences)
        else:
            truth = corpus.links().read() if has_text else read(gold, lengths=sentences)
    except CorpusError as error:
        if error.hint == FROM_ONE:
            hint = FROM_ONE.replace(".talp", ".talp, or give `base` 1")
            error = CorpusError(error.path, error.line, error.what, hint=hint)
        raise error from None
    gold_name, pairs = name_of(gold, gold_name), len(truth)
    if pairs == 0:
        raise CorpusError(gold_name, 0, "the gold has no sentence pairs", hint="check how it was made")
    given = names or [f"system {number}" for number, _ in enumerate(systems, 1)]
    places = [name_of(system, name) for system, name in zip(systems, given, strict=True)]
    titles = names or short_names(places)
    found = [read(system, sentences=range(1, pairs + 1)) for system in systems]
    for title, those in zip(places, found, strict=True):
        if len(those) != pairs:
            what = f"has {counted(len(those), 'line')} but the gold {gold_name} has {pairs}"
            hint = "one line per sentence pair, empty lines too"
            raise CorpusError(title, min(pairs, len(those)), what, hint=hint)
        for line, (its_links, length) in enumerate(zip(those, sentences or (), strict=False), 1):
            check_range(its_links, *length, title, line, INDEX_BASES.get(those.format, 1))
    warn_of_bases([gold_name, *places], [truth, *found], isinstance(gold, str | os.PathLike))
    lengths = np.zeros(pairs, np.int64) if source_lengths is None else np.asarray(source_lengths, np.int64)
    if lengths.shape != (pairs,):
        raise ValueError(f"source_lengths has shape {lengths.shape}, not ({pairs},)")
    if source_lengths is None:
        for those in (truth, *found):
            np.maximum.at(lengths, those.pairs, those.source.astype(np.int64) + 1)
    if not found:
        return []
    counts = [count(truth, those) for those in found]
    drawn, risks = bootstrap(counts, how.resamples, how.seed)
    overall = [scores(system.sum(axis=0)) for system in counts]
    tests = _tests(titles, overall, drawn, how)
    evaluations: list[Evaluation] = []
    for index, (title, system) in enumerate(zip(titles, counts, strict=True)):
        aer, precision, recall, f1 = map(float, overall[index])
        links, sure, possible = system.sum(axis=0)[:3].tolist()
        intervals = {
            metric: percentile_interval(values[index], how.confidence) for metric, values in drawn._asdict().items()
        }
        evaluations.append(
            Evaluation(
                name=title,
                gold=gold_name,
                aer=aer,
                precision=precision,
                recall=recall,
                f1=f1,
                links=links,
                sure=sure,
                possible=possible,
                pairs=pairs,
                confidence=how.confidence,
                intervals=intervals,
                lengths="links" if source_lengths is None else "text",
                by_length=_by_length(system, lengths),
                tests=tuple(test for (one, _), test in tests.items() if one == index),
                risk=risk_of(system, risks[index], how.confidence),
                signature=_signature(truth, found[index], gold_name, how),
            )
        )
    return evaluations


def _tests(
    titles: Sequence[str], overall: Sequence[Scores], resampled: Scores, how: Judging
) -> dict[tuple[int, int], PairedTest]:
    """Test systems, each against the first, or against all before it.  resampled: (h, resamples)."""

    def test(index: int, other: int) -> PairedTest:
        differences = resampled.aer[index] - resampled.aer[other]
        against = min(int((differences <= 0.0).sum()), int((differences >= 0.0).sum()))
        p_value = min(1.0, 2.0 * (1 + against) / (how.resamples + 1))
        interval = percentile_interval(differences, how.confidence)
        difference = float(overall[index].aer - overall[other].aer)
        return PairedTest(titles[other], difference, interval, p_value, is_least=against == 0)

    most, bound = len(overall) if how.all_pairs else 1, 0.0
    tests = {(index, other): test(index, other) for index in range(len(overall)) for other in range(min(index, most))}
    for rank, both in enumerate(sorted(tests, key=lambda both: tests[both].p_value) if how.all_pairs else ()):
        bound = max(bound, (len(tests) - rank) * tests[both].p_value)
        tests[both] = tests[both]._replace(holm=min(bound, 1.0))
    return tests


def _by_length(system: I64, lengths: I64) -> tuple[LengthRow, ...]:
    """Score the pairs of each length bin; bins without pairs are left out."""
    rows = []
    for label, (low, high) in _LENGTH_BINS.items():
        inside = (lengths >= low) & (lengths <= high)
        if inside.any():
            total = system[inside].sum(axis=0)
            found = (float(value) for value in scores(total))
            rows.append(LengthRow(label, int(inside.sum()), int(total[0]), *found))
    return tuple(rows)


def _signature(gold: Links, hypothesis: Links, gold_name: str, how: Judging) -> str:
    """The settings that change the figures; AERs with different signatures are not comparable."""
    parts = {
        "gold": f"{PurePath(gold_name).name},{reading(gold)}",
        "links": reading(hypothesis),
        "f1": "sure+possible",
        "null": "ignored",
        "pairs": str(len(gold)),
        "bootstrap": str(how.resamples),
        "confidence": f"{100 * how.confidence:g}",
        "seed": str(how.seed),
        "version": __version__,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())
