"""Lexicons of other tools against their definitions, in plain Python."""

import io
import struct
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from commands import write

from corpora import link_counts
from corpora.formats.lexicon import LEXICON_FORMATS, write_lexicon
from corpora.link_counts import LinkCounts, count_links
from corpora.link_files import open_links
from corpora.readers import open_texts

WORDS = ["a", "NULL", "œuvre", "l'", ",", "A", "\u00a0", "中文", *(f"w{i}" for i in range(12))]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Source, target and links, possible ones and pairs with empty sides among them."""
    shares = 1.0 / np.arange(1, len(WORDS) + 1) ** 1.5
    shares /= shares.sum()
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("text")
    sources, targets, links = [], [], []
    for _ in range(300):
        J, K = rng.integers(0, 8, 2).tolist()
        sources.append(" ".join(rng.choice(WORDS, J, p=shares)))
        targets.append("  ".join(rng.choice(WORDS, K, p=shares)))
        chosen = [(j, k) for j in range(J) for k in range(K) if rng.random() < 0.15]
        links.append(" ".join(f"{j}{rng.choice(['-', '?'])}{k}" for j, k in chosen))
    return [write(folder / name, *lines) for name, lines in (("t.en", sources), ("t.fr", targets), ("t.wa", links))]


@pytest.fixture(scope="module")
def counts(text: list[Path]) -> LinkCounts:
    corpus = open_texts(*text[:2])
    return count_links(corpus, open_links(text[2], lengths=corpus.lengths()))


@pytest.fixture(scope="module")
def expected(text: list[Path]) -> Counter[tuple[str, str]]:
    """How often words are linked, each word without a link to NULL."""
    found: Counter[tuple[str, str]] = Counter()
    for source, target, line in zip(*(path.read_text("utf-8").split("\n")[:-1] for path in text), strict=True):
        es, fs = source.encode().split(), target.encode().split()
        links = [tuple(map(int, link.replace("?", "-").split("-"))) for link in line.split()]
        found.update((es[j].decode(), fs[k].decode()) for j, k in links)
        found.update((e.decode(), "NULL") for j, e in enumerate(es) if j not in {j for j, _ in links})
        found.update(("NULL", f.decode()) for k, f in enumerate(fs) if k not in {k for _, k in links})
    return found


def rounded(number: float) -> float:
    """To the precision of C's float."""
    value: float = struct.unpack("f", struct.pack("f", number))[0]
    return value


def defined(expected: Counter[tuple[str, str]], given: int, single: bool = False) -> dict[tuple[str, str], float]:
    """The probability of each (other word, given word)."""
    totals: Counter[str] = Counter()
    for pair, count in expected.items():
        totals[pair[given]] += count
    found = {(pair[1 - given], pair[given]): count / totals[pair[given]] for pair, count in expected.items()}
    return {pair: rounded(p) for pair, p in found.items()} if single else found


def written(counts: LinkCounts, to: str, best: int | None = None) -> list[list[str]]:
    files = [io.BytesIO() for _ in LEXICON_FORMATS[to].suffixes]
    write_lexicon(files, counts, to, best)
    return [file.getvalue().decode().split("\n")[:-1] for file in files]


def as_lines(probabilities: dict[tuple[str, str], float]) -> list[str]:
    return sorted(f"{other} {given} {p:.7f}" for (other, given), p in probabilities.items())


@pytest.mark.parametrize("to", ["moses", "marian"])
def test_whole_lexicons_are_as_defined(counts: LinkCounts, expected: Counter[tuple[str, str]], to: str) -> None:
    for given, lines in enumerate(written(counts, to)):
        assert sorted(lines) == as_lines(defined(expected, given, single=to == "marian"))
        words = [line.split(" ")[1] for line in lines]
        assert sum(a != b for a, b in pairwise(words)) == len({*words}) - 1, "a word's lines stand together"


def test_extract_lex_divides_in_single_precision() -> None:
    counts = LinkCounts.of((["NULL", "a"], ["NULL", "b"]), np.array([1 << 32, 1 << 32 | 1]), np.array([43.0, 8.0]))
    assert written(counts, "moses")[0] == ["NULL a 0.8431373", "b a 0.1568627"]
    assert written(counts, "marian")[0] == ["NULL a 0.8431373", "b a 0.1568628"]


def test_counts_are_the_same_however_they_are_merged(
    text: list[Path], expected: Counter[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_counts, "_LINKS_AT_ONCE", 10)
    corpus = open_texts(*text[:2])
    found = count_links(corpus, open_links(text[2]))
    pairs = zip(found.source.tolist(), found.target.tolist(), found.counts.tolist(), strict=True)
    assert {(found.words[0][s], found.words[1][t]): count for s, t, count in pairs} == expected


def best_of(probabilities: dict[tuple[str, str], float]) -> dict[str, list[float]]:
    """The probabilities of each given word, but NULL, of other words but NULL, from the highest on."""
    found: dict[str, list[float]] = {}
    for (other, given), p in sorted(probabilities.items(), key=lambda item: -item[1]):
        if "NULL" not in (other, given):
            found.setdefault(given, []).append(p)
    return found


def read(lines: Iterable[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for _, given, p in (line.split(" ") for line in lines):
        found.setdefault(given, []).append(float(p))
    return found


@pytest.mark.parametrize("best", [1, 3, 100])
def test_shortlists_have_the_best_of_each_word(
    counts: LinkCounts, expected: Counter[tuple[str, str]], best: int
) -> None:
    for given, lines in enumerate(written(counts, "marian", best)):
        probabilities = defined(expected, given, single=True)
        assert {*lines} <= {*as_lines(probabilities)}
        wanted = {word: [float(f"{p:.7f}") for p in ps[:best]] for word, ps in best_of(probabilities).items()}
        assert read(lines) == wanted
    assert not any("NULL" in line.split() for line in lines)


def test_bicleaner_has_what_is_a_tenth_as_probable_as_the_best(
    counts: LinkCounts, expected: Counter[tuple[str, str]]
) -> None:
    dropped = 0
    for given, lines in enumerate(written(counts, "bicleaner")):
        every = best_of(defined(expected, given))
        wanted = {word: [float(f"{p:.7f}") for p in ps if p > 0.0999 * ps[0]] for word, ps in every.items()}
        assert read(lines) == wanted
        dropped += sum(map(len, every.values())) - len(lines)
    assert dropped > 0


def test_tables_have_counts(counts: LinkCounts, expected: Counter[tuple[str, str]]) -> None:
    head, *rows = (line.split("\t") for line in written(counts, "tsv")[0])
    assert head == ["source", "target", "count", "p(target|source)", "p(source|target)"]
    assert {(s, t): float(count) for s, t, count, _, _ in rows} == expected
    for given in (0, 1):
        found = {(row[1 - given], row[given]): float(row[3 + given]) for row in rows}
        assert found == pytest.approx(defined(expected, given), rel=1e-6)


def test_the_table_does_not_begin_with_what_is_not_translated(counts: LinkCounts) -> None:
    """Its rows of NULL come last; they are all there."""
    (lines,) = written(counts, "tsv")
    of_null = ["NULL" in line.split("\t")[:2] for line in lines[1:]]
    assert any(of_null)
    assert of_null == sorted(of_null)
