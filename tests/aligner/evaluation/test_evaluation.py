"""Evaluation equals its definition on sets and reproduces reference figures; the bootstrap obeys its laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aligner._version import __version__
from aligner.evaluation import comparison, counts
from aligner.evaluation.comparison import compare
from aligner.evaluation.counts import bootstrap, count, percentile_interval, scores
from aligner.evaluation.tables import format_text
from corpora.errors import CorpusError
from corpora.link_files import read_links
from corpora.links import NO_LINKS, Links, PairLinks

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


def test_absurd_positions_are_told_apart() -> None:
    last = 2**31 - 1
    gold = [PairLinks(frozenset({(last, last), (0, 0)}), frozenset({(last, 0)})) for _ in range(5)]
    system = [PairLinks(frozenset({(last, last), (0, last)})) for _ in range(5)]
    counts = count(Links.from_pairs(gold), Links.from_pairs(system))
    assert counts.tolist() == brute_force_counts(gold, system)


@given(gold_and_system())
def test_duplicates_and_marks_of_the_hypothesis_do_not_matter(both: Both) -> None:
    gold, system = (Links.from_pairs(pairs) for pairs in both)
    swapped = Links.from_pairs(PairLinks(pair.possible, pair.sure) for pair in both[1])

    def twice(links: Links) -> Links:
        source, target, sure = links.source.repeat(2), links.target.repeat(2), links.sure.repeat(2)
        return Links(source, target, sure, 2 * links.offsets)

    expected = count(gold, system)
    assert np.array_equal(count(twice(gold), twice(system)), expected)
    assert np.array_equal(count(gold, swapped), expected)


@given(gold_and_system())
def test_laws_of_sure_links(both: Both) -> None:
    gold, system = (Links.from_pairs(pairs) for pairs in both)
    sure = sure_only(*(set(pair.sure) for pair in both[0]))
    # The sure links themselves are perfect, whatever else is possible.
    assert [float(value) for value in scores(count(gold, sure).sum(axis=0))[:3]] == [0.0, 1.0, 1.0]
    # Without possible links AER and F1 are one measure.
    found = scores(count(sure, system).sum(axis=0))
    assert float(found.f1) == pytest.approx(1.0 - float(found.aer), abs=1e-15)


def test_bootstrap_equals_a_loop_over_resampled_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    gold = ordinary_gold(rng, 23)
    systems = [count(Links.from_pairs(gold), noisy_system(gold, rng, errors)) for errors in (0.1, 0.3)]
    monkeypatch.setattr(counts, "_DRAWS", 100)  # 4 resamples at a time
    found, _ = bootstrap(systems, 30, seed=5)
    draws = np.random.default_rng(5)
    for b in range(30):
        drawn = draws.integers(23, size=23)
        for h, system in enumerate(systems):
            expected = brute_force_scores([system[i].tolist() for i in drawn])
            got = {metric: float(values[h, b]) for metric, values in found._asdict().items()}
            assert got == pytest.approx(expected, abs=1e-15)


def test_bootstrap_is_a_function_of_the_seed() -> None:
    rng = np.random.default_rng(2)
    gold = ordinary_gold(rng, 40)
    systems = [noisy_system(gold, rng, errors) for errors in (0.1, 0.2)]
    together = named(Links.from_pairs(gold), *systems)
    assert named(Links.from_pairs(gold), *systems) == together
    assert named(Links.from_pairs(gold), *systems, seed=8)[0].intervals != together[0].intervals
    # An interval does not depend on which other systems are evaluated beside it.
    [alone] = named(Links.from_pairs(gold), systems[1])
    assert alone.intervals == together[1].intervals


def test_intervals_hold_the_estimate_and_grow_with_confidence() -> None:
    rng = np.random.default_rng(3)
    gold = ordinary_gold(rng, 200)
    system = noisy_system(gold, rng, 0.15)
    results = [named(Links.from_pairs(gold), system, confidence=confidence)[0] for confidence in (0.5, 0.9, 0.99)]
    for metric in METRICS:
        for result in results:
            low, high = result.intervals[metric]
            assert low < getattr(result, metric) < high
        for narrow, wide in pairwise(results):
            assert wide.intervals[metric][0] < narrow.intervals[metric][0]
            assert wide.intervals[metric][1] > narrow.intervals[metric][1]


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


def test_a_system_does_not_differ_from_itself() -> None:
    rng = np.random.default_rng(6)
    gold = ordinary_gold(rng, 50)
    system = noisy_system(gold, rng, 0.2)
    first, second = named(Links.from_pairs(gold), system, system)
    assert first.paired is None
    assert second.paired == ("system-0", 0.0, (0.0, 0.0), 1.0, None, False)


def test_paired_test_sees_a_clear_difference() -> None:
    rng = np.random.default_rng(9)
    gold = ordinary_gold(rng, 150)
    good, bad = (noisy_system(gold, rng, errors) for errors in (0.10, 0.25))
    paired = compared(gold, good, bad, resamples=999)
    low, high = paired.interval
    assert 0 < low < paired.difference < high
    assert paired.p_value == 2 / 1000  # the least that 999 resamples can give
    assert paired.is_least
    systems = {"good": good, "bad": bad}
    by_name = compare(Links.from_pairs(gold), systems, resamples=999)
    assert [found.name for found in by_name] == [*systems]
    assert by_name[1].paired is not None
    assert by_name[1].paired[1:] == paired[1:]
    assert "≤ 0.0020" in format_text(by_name)


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
    rng = np.random.default_rng(12)
    gold = ordinary_gold(rng, 120)
    system = noisy_system(gold, rng, 0.2)
    lengths = rng.integers(0, 60, size=120)
    [result] = named(Links.from_pairs(gold), system, source_lengths=lengths)
    assert result.lengths == "text"
    assert [row.lengths for row in result.by_length] == ["0-10", "11-20", "21-30", "31-40", "41+"]
    assert sum(row.pairs for row in result.by_length) == result.pairs
    assert sum(row.links for row in result.by_length) == result.links
    bounds = [0, 11, 21, 31, 41, 1000]
    for row, (low, beyond) in zip(result.by_length, pairwise(bounds), strict=True):
        inside = [i for i in range(120) if low <= lengths[i] < beyond]
        rows = brute_force_counts([gold[i] for i in inside], [system[i] for i in inside])
        expected = brute_force_scores(rows)
        assert row.pairs == len(inside)
        assert {metric: getattr(row, metric) for metric in METRICS} == pytest.approx(expected, abs=1e-15)


def test_without_text_the_last_linked_word_stands_for_the_length() -> None:
    gold = sure_only({(9, 0)}, {(3, 2)}, {(0, 45)}, set())
    first = sure_only({(8, 0)}, {(3, 2)}, {(0, 45)}, set())
    second = sure_only({(10, 0)}, {(3, 2)}, {(40, 0), (2, 1)}, set())
    [alone] = named(gold, first)
    assert alone.lengths == "links"
    assert [(row.lengths, row.pairs) for row in alone.by_length] == [("0-10", 4)]
    # All systems share one set of bins, so that their rows can be compared.
    for result in named(gold, first, second):
        found = [(row.lengths, row.pairs) for row in result.by_length]
        assert found == [("0-10", 2), ("11-20", 1), ("41+", 1)]


@pytest.mark.parametrize(("lines", "at"), [(99, 99), (101, 100), (0, 0)])
def test_another_number_of_lines(lines: int, at: int) -> None:
    gold = sure_only(*[{(0, 0)}] * 100)
    system = sure_only(*[{(0, 0)}] * lines)
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


def test_signature_names_all_conventions() -> None:
    marked = Links.from_pairs([PairLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))])
    unmarked = sure_only({(0, 0)})
    settings: dict[str, Any] = {"names": ["h"], "resamples": 50, "confidence": 0.999, "seed": 3}
    [first] = compare(marked, [unmarked], gold_name="some/where/gold-dev.wa", **settings)
    assert first.signature == (
        "gold:gold-dev.wa,arrays,sure-and-possible|links:arrays,all-sure|f1:sure+possible|null:ignored|pairs:1|"
        f"bootstrap:50|confidence:99.9|seed:3|version:{__version__}"
    )
    [second] = compare(unmarked, [unmarked], gold_name="gold-dev.wa", **settings)
    assert "gold:gold-dev.wa,arrays,all-sure|" in second.signature


def test_the_signature_tells_how_files_were_read(tmp_path: Path) -> None:
    """The same lines as Pharaoh and as TALP are other links, with another AER: one signature would hide it."""
    lines = b"1-1 2p2\n"
    (tmp_path / "gold.wa").write_bytes(lines)
    (tmp_path / "gold.talp").write_bytes(lines)
    hypothesis = read_links(tmp_path / "gold.talp")
    found = {}
    for name in ("gold.wa", "gold.talp"):
        gold = read_links(tmp_path / name)
        [found[name]] = compare(gold, [hypothesis], gold_name="gold", names=["h"], resamples=2)
    assert found["gold.wa"].aer > found["gold.talp"].aer == 0
    assert "gold:gold,pharaoh,base-0,sure-and-possible|links:talp,base-1," in found["gold.wa"].signature
    assert "gold:gold,talp,base-1,sure-and-possible|" in found["gold.talp"].signature
