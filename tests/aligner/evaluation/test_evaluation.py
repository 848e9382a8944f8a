"""Evaluation equals its definition on sets and reproduces reference figures; the bootstrap obeys its laws."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import aligner
from aligner.evaluation import comparison, counts
from aligner.evaluation.comparison import compare
from aligner.evaluation.counts import bootstrap, count, percentile_interval, scores
from aligner.evaluation.tables import format_text
from corpora.errors import CorpusError
from corpora.link_files import read_links
from corpora.links import NO_LINKS, Links, PairLinks

LAST = 2**31 - 1
FAR = frozenset({(LAST, LAST), (0, LAST)})
METRICS = ("aer", "precision", "recall", "f1")

Both = tuple[list[PairLinks], list[PairLinks]]
positions = st.tuples(st.integers(0, 4), st.integers(0, 4))


@st.composite
def pair_links(draw: st.DrawFn) -> PairLinks:
    sure = draw(st.frozensets(positions, max_size=8))
    possible = draw(st.frozensets(positions, max_size=8))
    return PairLinks(sure, possible - sure)


@st.composite
def gold_and_system(draw: st.DrawFn) -> Both:
    both = draw(st.lists(st.tuples(pair_links(), pair_links()), min_size=1, max_size=6))
    return [gold for gold, _ in both], [system for _, system in both]


def brute_force_counts(gold: list[PairLinks], system: list[PairLinks]) -> list[list[int]]:
    rows = []
    for g, h in zip(gold, system, strict=True):
        a, s, p = h.sure | h.possible, g.sure, g.sure | g.possible
        rows.append([len(a), len(s), len(p), len(a & s), len(a & p)])
    return rows


def brute_force_scores(rows: list[list[int]]) -> dict[str, float]:
    a, s, p, a_s, a_p = (sum(column) for column in zip(*rows, strict=True))

    def ratio(x: int, y: int) -> Fraction:
        return Fraction(x, y) if y else Fraction(1)

    values = (1 - ratio(a_s + a_p, a + s), ratio(a_p, a), ratio(a_s, s), ratio(2 * a_p, a + p))
    return {metric: float(value) for metric, value in zip(METRICS, values, strict=True)}


def sure_only(*pairs: set[tuple[int, int]]) -> Links:
    return Links.from_pairs([PairLinks(frozenset(pair)) for pair in pairs])


def noisy_system(gold: list[PairLinks], rng: np.random.Generator, errors: float) -> Links:
    """The sure links of the gold, each moved out of its place with a probability."""
    return sure_only(
        *({(j, k + 50) if rng.random() < errors else (j, k) for j, k in sorted(pair.sure)} for pair in gold)
    )


def ordinary_gold(rng: np.random.Generator, pairs: int) -> list[PairLinks]:
    lengths = rng.integers(1, 50, size=pairs).tolist()
    return [
        PairLinks(frozenset((j, j) for j in range(n)), frozenset((j, j + 1) for j in range(0, n, 3))) for n in lengths
    ]


def named(gold: Links, *systems: Links, resamples: int = 400, **settings: Any) -> list[comparison.Evaluation]:
    names = [f"system-{i}" for i in range(len(systems))]
    return compare(gold, systems, gold_name="gold.wa", names=names, resamples=resamples, **settings)


def compared(gold: list[PairLinks], first: Links, second: Links, **settings: Any) -> comparison.PairedTest:
    test = named(Links.from_pairs(gold), first, second, **settings)[1].paired
    assert test is not None
    return test


@pytest.mark.parametrize(
    ("part", "symmetrized", "published"),
    [
        *(("train", "intersection", 8.40), ("train", "grow-diag", 6.42), ("train", "grow-diag-final", 6.56)),
        *(("dev", "intersection", 8.06), ("dev", "grow-diag", 6.55), ("dev", "grow-diag-final", 6.81)),
    ],
)
def test_reference_aer_of_giza(data: Path, part: str, symmetrized: str, published: float) -> None:
    gold = read_links(data / "hansards" / f"gold-{part}.wa")
    system = read_links(data / "hansards" / f"giza-{part}.{symmetrized}")
    [result] = named(gold, system)
    assert result.pairs == 100
    assert round(100 * result.aer, 2) == published


@given(gold_and_system(), st.integers(1, 4))
@example(([NO_LINKS] * 2, [NO_LINKS] * 2), 1)
@example(([PairLinks(frozenset({(0, 0)}))], [NO_LINKS]), 1)
@example(([NO_LINKS], [PairLinks(frozenset({(0, 0)}))]), 1)
@example(([PairLinks(frozenset({(LAST, LAST), (0, 0)}), frozenset({(LAST, 0)}))] * 2, [PairLinks(FAR)] * 2), 1)
def test_equals_the_definition_on_sets(both: Both, block: int) -> None:
    """However many pairs are counted at once, and where denominators are 0."""
    gold, system = both
    rows = brute_force_counts(gold, system)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_BLOCK", block)
        counted = count(Links.from_pairs(gold), Links.from_pairs(system))
    assert counted.tolist() == rows
    expected = brute_force_scores(rows)
    found = scores(counted.sum(axis=0))._asdict()
    assert {metric: float(value) for metric, value in found.items()} == pytest.approx(expected, abs=1e-15)
    [result] = named(Links.from_pairs(gold), Links.from_pairs(system), resamples=2)
    assert {metric: getattr(result, metric) for metric in METRICS} == pytest.approx(expected, abs=1e-15)
    assert [result.links, result.sure, result.possible] == np.sum(rows, axis=0)[:3].tolist()


@given(gold_and_system())
def test_laws_of_links(both: Both) -> None:
    gold, system = (Links.from_pairs(pairs) for pairs in both)
    swapped = Links.from_pairs(PairLinks(pair.possible, pair.sure) for pair in both[1])

    def twice(links: Links) -> Links:
        return Links(links.source.repeat(2), links.target.repeat(2), links.sure.repeat(2), 2 * links.offsets)

    expected = count(gold, system)
    assert np.array_equal(count(twice(gold), twice(system)), expected)
    assert np.array_equal(count(gold, swapped), expected), "marks of the hypothesis do not matter"
    # The sure links themselves are perfect, whatever else is possible.
    sure = sure_only(*(set(pair.sure) for pair in both[0]))
    assert [float(value) for value in scores(count(gold, sure).sum(axis=0))[:3]] == [0.0, 1.0, 1.0]
    # Without possible links AER and F1 are one measure.
    found = scores(count(sure, system).sum(axis=0))
    assert float(found.f1) == pytest.approx(1.0 - float(found.aer), abs=1e-15)


def test_bootstrap_equals_a_loop_over_resampled_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    gold = ordinary_gold(rng, 23)
    systems = [noisy_system(gold, rng, errors) for errors in (0.1, 0.3)]
    tables = [count(Links.from_pairs(gold), system) for system in systems]
    monkeypatch.setattr(counts, "_DRAWS", 100)  # 4 resamples at a time
    found, _ = bootstrap(tables, 30, seed=5)
    draws = np.random.default_rng(5)
    for b in range(30):
        drawn = draws.integers(23, size=23)
        for h, table in enumerate(tables):
            got = {metric: float(values[h, b]) for metric, values in found._asdict().items()}
            assert got == pytest.approx(brute_force_scores(table[drawn].tolist()), abs=1e-15)
    # It is a function of the seed, and an interval of its system alone.
    together = named(Links.from_pairs(gold), *systems)
    assert named(Links.from_pairs(gold), *systems) == together
    assert named(Links.from_pairs(gold), *systems, seed=8)[0].intervals != together[0].intervals
    assert named(Links.from_pairs(gold), systems[1])[0].intervals == together[1].intervals
    same = named(Links.from_pairs(gold), systems[0], systems[0])
    assert [one.paired for one in same] == [None, ("system-0", 0.0, (0.0, 0.0), 1.0, None, False)]


def test_intervals_hold_the_estimate_and_grow_with_confidence() -> None:
    rng = np.random.default_rng(3)
    gold = ordinary_gold(rng, 200)
    system = noisy_system(gold, rng, 0.15)
    results = [named(Links.from_pairs(gold), system, confidence=confidence)[0] for confidence in (0.5, 0.9, 0.99)]
    for metric in METRICS:
        ends = [one.intervals[metric] for one in results]
        lows, highs = ([end[side] for end in ends] for side in (0, 1))
        assert sorted({*lows, getattr(results[0], metric), *highs}) == [
            *lows[::-1],
            getattr(results[0], metric),
            *highs,
        ]


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    # A population of sentences with a known AER, sampled again and again.
    rng = np.random.default_rng(4)
    links = rng.integers(5, 40, size=20_000)
    hits = rng.binomial(links, rng.beta(8, 2, size=20_000))
    population = np.stack([links, links, links, hits, hits], axis=1)
    truth = float(scores(population.sum(axis=0)).aer)
    covered = 0
    for trial in range(300):
        sample = population[rng.integers(20_000, size=100)]
        low, high = percentile_interval(bootstrap([sample], 300, seed=trial)[0].aer[0], 0.90)
        covered += low <= truth <= high
    # Expected 270 of 300, standard deviation 5.2: four of them either way.
    assert covered == pytest.approx(270, abs=21)


def test_paired_test_sees_a_clear_difference() -> None:
    rng = np.random.default_rng(9)
    gold = ordinary_gold(rng, 150)
    systems = {name: noisy_system(gold, rng, errors) for name, errors in (("good", 0.10), ("bad", 0.25))}
    found = compare(Links.from_pairs(gold), systems, resamples=999)
    assert [one.name for one in found] == [*systems]
    paired = found[1].paired
    assert paired is not None
    low, high = paired.interval
    assert 0 < low < paired.difference < high
    assert (paired.p_value, paired.is_least) == (2 / 1000, True), "the least that 999 resamples can give"
    assert "≤ 0.0020" in format_text(found)


@pytest.mark.parametrize("errors", [0.12, 0.14, 0.16, 0.18])
def test_paired_test_is_symmetric_and_agrees_with_its_interval(errors: float) -> None:
    rng = np.random.default_rng(10)
    gold = ordinary_gold(rng, 60)
    a, b = noisy_system(gold, rng, 0.14), noisy_system(gold, rng, errors)
    ahead, behind = compared(gold, a, b), compared(gold, b, a)
    assert ahead.difference == -behind.difference
    assert ahead.p_value == behind.p_value
    assert ahead.interval == pytest.approx((-behind.interval[1], -behind.interval[0]), abs=1e-12)
    low, high = ahead.interval
    assert (low > 0 or high < 0) == (ahead.p_value < 0.05)


@pytest.mark.slow
def test_p_values_are_uniform_when_nothing_differs() -> None:
    # A single pair of equal systems may differ by chance: the law is how often they do.
    rng = np.random.default_rng(11)
    gold = ordinary_gold(rng, 80)
    p_values = []
    for trial in range(200):
        first, second = (noisy_system(gold, rng, 0.2) for _ in range(2))
        p_values.append(compared(gold, first, second, seed=trial, resamples=199).p_value)
    for level in (0.05, 0.2, 0.5, 0.8):
        four_deviations = 4 * (level * (1 - level) / 200) ** 0.5
        assert np.mean(np.array(p_values) <= level) == pytest.approx(level, abs=four_deviations)


def test_lengths_part_the_corpus() -> None:
    """Without text the last linked word of any system stands for the length."""
    rng = np.random.default_rng(12)
    gold = ordinary_gold(rng, 120)
    system = noisy_system(gold, rng, 0.2)
    lengths = rng.integers(0, 60, size=120)
    [result] = named(Links.from_pairs(gold), system, source_lengths=lengths)
    assert result.lengths == "text"
    bins = {"0-10": (0, 11), "11-20": (11, 21), "21-30": (21, 31), "31-40": (31, 41), "41+": (41, 1000)}
    assert [row.lengths for row in result.by_length] == [*bins]
    for row in result.by_length:
        low, beyond = bins[row.lengths]
        inside = [i for i in range(120) if low <= lengths[i] < beyond]
        rows = brute_force_counts([gold[i] for i in inside], [system[i] for i in inside])
        assert (row.pairs, row.links) == (len(inside), sum(links for links, *_ in rows))
        expected = brute_force_scores(rows)
        assert {metric: getattr(row, metric) for metric in METRICS} == pytest.approx(expected, abs=1e-15)
    links = [{(8, 0)}, {(3, 2)}, {(0, 45)}, set()], [{(10, 0)}, {(3, 2)}, {(40, 0), (2, 1)}, set()]
    for found in named(sure_only({(9, 0)}, *links[0][1:]), *(sure_only(*one) for one in links)):
        assert found.lengths == "links"
        assert [(row.lengths, row.pairs) for row in found.by_length] == [("0-10", 2), ("11-20", 1), ("41+", 1)]


@pytest.mark.parametrize(("lines", "at"), [(99, 99), (101, 100), (0, 0)])
def test_another_number_of_lines(lines: int, at: int) -> None:
    gold, system = (sure_only(*[{(0, 0)}] * n) for n in (100, lines))
    with pytest.raises(CorpusError) as caught:
        compare(gold, [gold, system], gold_name="gold-dev.wa", names=["same.links", "dev.links"])
    assert str(caught.value) == (
        f"dev.links{f':{at}' if at else ''}: has {lines} lines but the gold gold-dev.wa has 100 "
        "(one line per sentence pair, empty lines too)"
    )
    with pytest.raises(ValueError, match="pairs"):
        count(gold, system)


def test_empty_gold_and_settings_out_of_range_are_errors_and_no_hypotheses_are_not() -> None:
    gold = sure_only({(0, 0)})
    with pytest.raises(CorpusError, match=r"empty\.wa: .*no sentence pairs"):
        compare(sure_only(), [sure_only()], gold_name="empty.wa", names=["h"])
    assert compare(gold, [], gold_name="g", names=[]) == []
    for settings in ({"resamples": 0}, {"confidence": 0.0}, {"confidence": 1.0}, {"source_lengths": [3, 4]}):
        with pytest.raises(ValueError, match=r"resamples|source_lengths"):
            named(gold, gold, **settings)  # type: ignore[arg-type]


def test_the_signature_names_all_conventions_and_how_files_were_read(tmp_path: Path) -> None:
    """The same lines as Pharaoh and as TALP are other links, with another AER: one signature would hide it."""
    marked = Links.from_pairs([PairLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))])
    settings: dict[str, Any] = {"names": ["h"], "resamples": 50, "confidence": 0.999, "seed": 3}
    [first] = compare(marked, [sure_only({(0, 0)})], gold_name="some/where/gold-dev.wa", **settings)
    assert first.signature == (
        "gold:gold-dev.wa,arrays,sure-and-possible|links:arrays,all-sure|f1:sure+possible|null:ignored|pairs:1|"
        f"bootstrap:50|confidence:99.9|seed:3|version:{aligner.__version__}"
    )
    files = [tmp_path / name for name in ("gold.wa", "gold.talp")]
    for file in files:
        file.write_bytes(b"1-1 2p2\n")
    one, other = (compare(read_links(gold), [read_links(files[1])], names=["h"], resamples=2)[0] for gold in files)
    assert one.aer > other.aer == 0
    assert re.match(r"gold:\w+,pharaoh,base-0,sure-and-possible\|links:talp,base-1,", one.signature)
    assert re.match(r"gold:\w+,talp,base-1,sure-and-possible\|", other.signature)
