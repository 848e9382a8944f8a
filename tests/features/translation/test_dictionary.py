"""Dictionaries: entries decide where the text says little, on real pairs, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aligner.evaluation.counts import error_rate
from aligner.model.settings import AlignSettings
from aligner.model.unsupervised import align
from corpora.alignment import Links
from corpora.bitext import Bitext, read_bitext
from corpora.errors import BrokenLine
from corpora.left_out import LeftOut
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.translation.dictionary import COUNT, HEAVIEST, MOST_WORDS, parse_dictionary
from features.translation.priors import read_priors
from features.translation.training import usual_settings

NORMALIZERS = Normalizer(), Normalizer()


def test_words_of_a_phrase_share_its_count() -> None:
    lines = [
        "house\tmaison",
        "",
        "give up ||| renoncer ||| 2",
        "New York\tla ville de New York\t0.5",
        "house\tmaison\t3",
    ]
    found = parse_dictionary([line.encode() for line in lines], "D", NORMALIZERS)
    assert found["house", "maison"] == 4.0 * COUNT
    assert found["give", "renoncer"] == found["up", "renoncer"] == 1.0 * COUNT
    assert found["York", "ville"] == pytest.approx(0.1 * COUNT)
    assert len(found) == 1 + 2 + 2 * 5


def test_entries_are_tokenised_as_the_text_is() -> None:
    tokenizing = Normalizer(tokenize=True)
    found = parse_dictionary(["O'Brien\t東京".encode()], "D", (NORMALIZERS[0], tokenizing))
    assert {*found} == {("O'Brien", "東"), ("O'Brien", "京")}


@pytest.mark.parametrize(
    "line",
    ["a", "a\t", "\tb", "a\tb\tx", "a\tb\t0", "a\tb\t-1", "a\tb\tnan", f"a\tb\t{HEAVIEST * 2}", "a\tb\t1\t1", "a ||| ",
     "a\tb\udcff", "a\tb\t1_0", "a\tb\t١"],
)  # fmt: skip
def test_a_broken_line_is_named(line: str) -> None:
    with pytest.raises(BrokenLine, match=r"^D:2: .* is no entry of a dictionary .*source TAB target"):
        parse_dictionary([b"a\tb", line.encode("utf-8", "surrogateescape")], "D", NORMALIZERS)


def test_a_sentence_is_no_entry() -> None:
    """Each word of one side counts with each of the other: a longer entry would take the square of its length."""
    words = " ".join(["a"] * MOST_WORDS)
    assert parse_dictionary([f"{words}\tb".encode()], "D", NORMALIZERS)
    with pytest.warns(LeftOut, match=rf"^D: left out: 1 entries of more than {MOST_WORDS} words on a side \(give"):
        found = parse_dictionary([f"b\t{words} a".encode(), b"c\td"], "D", NORMALIZERS)
    assert found == {("c", "d"): COUNT}


def test_a_dictionary_is_added_to_priors(tmp_path: Path) -> None:
    priors, dictionary = tmp_path / "P", tmp_path / "D"
    priors.write_text("LEX\tHouse\tmaison\t5\nHMMF\t1\t7\n")
    dictionary.write_text("house\tmaison\nhouse\tfoyer\n")
    both = read_priors(priors, dictionary, NORMALIZERS)
    assert both is not None
    counts = dict(zip(both.target_words.words(), both.lexicons["words"].counts[:, 0].tolist(), strict=True))
    assert counts == {"maison": 5.0 + COUNT, "foyer": COUNT}
    assert both.lexicons["words"].forward.jumps.sum() == 7.0
    assert read_priors(None, None, NORMALIZERS) is None


def test_entries_decide_where_the_text_does_not(make_bitext: Callable[..., Bitext], tmp_path: Path) -> None:
    text = make_bitext([("This that".split(), "un deux".split())] * 4)
    for this, that, expected in (("deux", "un", "0-1 1-0"), ("un", "deux", "0-0 1-1")):
        entries = tmp_path / this
        entries.write_text(f"this\t{this}\nTHAT ||| {that}\n")
        assert str(align(text, settings=AlignSettings(dictionary=str(entries)))[0]) == expected


@pytest.fixture(scope="module")
def japanese(data: Path) -> tuple[Bitext, Links, Counter[tuple[str, str]]]:
    """English-Japanese, and how often each word of the second half translates another one alone, in gold."""
    corpus = open_corpus(str(data / "en-ja" / "gold"), source="en", target="ja")
    bitext = read_bitext([corpus], *NORMALIZERS, lambda pairs: None)
    links = Links.from_pairs(corpus.links())
    entries: Counter[tuple[str, str]] = Counter()
    for pair in range(len(links) // 2, len(links)):
        sure = links[pair].sure
        sides = [Counter(link[side] for link in sure) for side in (0, 1)]
        words = [text.vocabulary.words for text in (bitext.source, bitext.target)]
        ids = [text.sentence(pair) for text in (bitext.source, bitext.target)]
        entries.update(
            (words[0][ids[0][j]], words[1][ids[1][k]]) for j, k in sorted(sure) if sides[0][j] == sides[1][k] == 1
        )
    return bitext, links, entries


@pytest.mark.slow
def test_five_hundred_entries_on_japanese(
    japanese: tuple[Bitext, Links, Counter[tuple[str, str]]], tmp_path: Path
) -> None:
    """Frequent ones avoid errors in the other half, any others do no harm, and nonsense little."""
    bitext, links, entries = japanese
    half = np.arange(len(links) // 2)

    def error(chosen: list[tuple[str, str]]) -> float:
        file = tmp_path / "entries"
        file.write_text("".join(f"{source}\t{target}\n" for source, target in chosen), "utf-8")
        found = align(bitext, settings=AlignSettings(dictionary=str(file) if chosen else None))
        return 100 * error_rate(links.take(half), found.to_links().take(half))

    rng = np.random.default_rng(0)
    every = sorted(entries)
    some = [every[place] for place in rng.permutation(len(every))[:500]]
    nonsense = [(one[0], other[1]) for one, other in zip(some, rng.permutation(some).tolist(), strict=True)]
    alone = error([])
    assert error([entry for entry, _ in entries.most_common(500)]) < alone - 0.6
    assert error(some) < alone
    assert error(nonsense) < alone + 0.6


def test_a_large_dictionary_is_not_a_large_text(
    japanese: tuple[Bitext, Links, Counter[tuple[str, str]]], tmp_path: Path
) -> None:
    """Training of a small text keeps its settings, and its links nearly, whatever is known that is not in it."""
    bitext, links, _ = japanese
    file = tmp_path / "entries"
    file.write_text("".join(f"x{number}\ty{number}\n" for number in range(30_000)), "utf-8")
    assert usual_settings(bitext, read_priors(None, file, NORMALIZERS)) == usual_settings(bitext)
    alone, found = (align(bitext, settings=AlignSettings(dictionary=given)) for given in (None, str(file)))
    assert error_rate(links, found.to_links()) < error_rate(links, alone.to_links()) + 0.005
