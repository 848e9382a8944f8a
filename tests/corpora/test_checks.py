"""What looks wrong about a text is told in a line; of what looks right, and of a few lines, nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from aligner.training.inputs import read_labelled
from corpora.bitext import FEWEST_LINES, BitextBuilder, oddities, read_bitext
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from corpora.strict_json import parse_json

NORMALIZERS = Normalizer(), Normalizer()
GOOD = [(["the", "old", f"house{n}"], ["la", f"maison{n}"]) for n in range(FEWEST_LINES)]


def told(pairs: list[tuple[list[str], list[str]]]) -> list[str]:
    return list(oddities(BitextBuilder(*NORMALIZERS).add_pairs(pairs).bitext()))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(source, []) for source, _ in GOOD], "100% of the lines are empty on a side"),
        ([([], target) for _, target in GOOD] + GOOD[1:], "51% of the lines are empty"),
        ([([source[2]], target) for source, target in GOOD], "the source has 1.0 words a line (put spaces"),
        ([(source, ["\u6211\u5728\u5bb6"]) for source, _ in GOOD], "the target has 1.0 words a line (training"),
        ([(source, target * 151) for source, target in GOOD], "the target has 302 words a line"),
        ([(source, source) for source, _ in GOOD], "100% of the lines are the same"),
        (GOOD[:9] + [(target, target) for _, target in GOOD[9:]], "55% of the lines are the same"),
    ],
)
def test_a_line_says_what_is_odd(pairs: list[tuple[list[str], list[str]]], message: str) -> None:
    (found,) = told(pairs)
    assert found.startswith(message)
    assert not told(pairs[:9])


def test_of_good_text_nothing_is_told() -> None:
    assert not told(GOOD)
    assert not told([])
    assert not told(GOOD + [(source, source) for source, _ in GOOD[1:]])


def test_reading_warns_by_name(tmp_path: Path) -> None:
    for name, line in {"t.en": "a b", "t.fr": "a b", "u.en": "a b", "u.fr": "c d"}.items():
        (tmp_path / name).write_text(f"{line}\n" * FEWEST_LINES)
    (tmp_path / "u.wa").write_text("0-0\n" * 9 + "\n" * 11)
    with pytest.warns(UserWarning, match=r"/t: 100% of the lines are the same") as found:
        read_bitext([open_corpus(tmp_path / "t")], *NORMALIZERS)
    assert len(found) == 1
    with pytest.warns(UserWarning, match=r"/u: 11 of 20 labelled pairs have no link") as found:
        read_labelled([open_corpus(tmp_path / "u")], NORMALIZERS)
    assert len(found) == 1


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, "NaN", "[-Infinity]", "", b"\xff", "{", "1 2"])
def test_what_is_no_json(data: bytes | str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(data)
    assert parse_json(b'{"a": [1, 0.5, "\xc3\xa9", null]}') == {"a": [1, 0.5, "é", None]}
