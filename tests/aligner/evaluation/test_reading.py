"""Links that count from 1 are recognised where they can be, asked about, or read so."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import write

from aligner.evaluation.comparison import compare
from corpora import SettingError
from corpora.errors import CorpusError

ONES, ZEROS = ["1-1 2-2", "2?1", "1-1", "1-2"], ["0-0 1-1", "1?0", "0-0", "0-1"]


def test_gold_that_counts_from_one_is_asked_about_or_read_so(tmp_path: Path) -> None:
    ones, zeros, talp = (
        write(tmp_path / name, *lines) for name, lines in (("o", ONES), ("z", ZEROS), ("o.talp", ONES))
    )
    with pytest.warns(UserWarning, match=r"no link of \S*/o has a 0, but the others have: .* from 1\? .*give `base` 1"):
        [wrong] = compare(ones, [zeros], resamples=2)
    assert wrong.aer > 0
    for gold, base in ((ones, 1), (talp, None), (talp, 1)):
        [right] = compare(gold, [zeros], base=base, resamples=2)
        assert right.aer == 0
        assert ",talp,base-1," in right.signature
    assert compare(talp, [ones], base=0, resamples=2)[0].aer == 0  # both wrong in the same way
    with pytest.warns(UserWarning, match=r"no link of \S*/o has a 0, but \S*/z has: does .* \(then name it .talp\)"):
        compare(zeros, [zeros, ones], resamples=2)
    assert compare(ones, [ones], resamples=2)[0].aer == 0  # and no warning: there is no other
    few = write(tmp_path / "few", "1-1", "1-1"), write(tmp_path / "found", "0-0", "1-1")
    assert compare(few[0], [few[1]], resamples=2)[0].aer > 0  # two pairs say nothing


def test_gold_that_counts_from_one_does_not_fit_its_text(tmp_path: Path) -> None:
    for language in ("de", "en"):
        write(tmp_path / f"t.{language}", *["a b"] * len(ONES))
    gold, zeros = write(tmp_path / "t.wa", *ONES), write(tmp_path / "z", *ZEROS)
    for one, text in ((gold, tmp_path / "t"), (tmp_path / "t", None)):
        with pytest.raises(CorpusError, match=r"t.wa:1: link 2-2 is out .* \(counted from 1\? .* or give `base` 1"):
            compare(one, [zeros], text=text)
        assert compare(one, [zeros], text=text, base=1, resamples=2)[0].aer == 0
    with pytest.raises(CorpusError, match=r"t.wa:1: link 2-2 is out .* \(counted from 1\? Then name the file .talp"):
        compare(zeros, [gold], text=tmp_path / "t")
    write(gold, "2-2 0-1", *ONES[1:])  # a file with a 0 does not count from 1
    with pytest.raises(CorpusError, match=r"t.wa:1: link 2-2 is out .* \(are source and target swapped"):
        compare(gold, [zeros], text=tmp_path / "t")


def test_base_is_of_gold_in_files_of_the_pharaoh_format(tmp_path: Path) -> None:
    naacl = write(tmp_path / "gold", "1 1 1")
    for gold in (naacl, [[(0, 0)]]):
        with pytest.raises(SettingError, match=r"`base` is of gold in the Pharaoh format, not of (naacl|arrays)"):
            compare(gold, [[[(0, 0)]]], base=1)
    with pytest.raises(ValueError, match="base must be 0 or 1, not 2"):
        compare(naacl, [naacl], base=2)


def test_a_naacl_hypothesis_may_leave_its_last_pairs_without_links(tmp_path: Path) -> None:
    gold, found = write(tmp_path / "gold.wa", "0-0", "1-1", ""), write(tmp_path / "found.naacl", "1 1 1 S", "2 2 2 S")
    (one,) = compare(gold, [found], resamples=1)
    assert (one.pairs, one.aer) == (3, 0.0)
