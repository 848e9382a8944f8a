"""What would cost the user a file, an hour or an answer that means nothing is refused, or said, beforehand."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from commands import invoke, refused

from aligner.model.model import load
from corpora.corpus import BYTES_A_WORD_PAIR

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


def test_suffixes_that_are_of_both_sides_are_no_other_direction(desk: Desk) -> None:
    replace(load(desk.model), languages=("txt", "txt")).save(desk.folder / "T")
    for name, text in (("a.txt", desk.source), ("b.txt", desk.target)):
        shutil.copyfile(text, desk.folder / name)
    found = invoke("align", desk.folder / "a.txt", desk.folder / "b.txt", "-m", desk.folder / "T")
    assert (found.exit_code, found.stderr.count("\n")) == (0, 1), "the summary"


@pytest.mark.parametrize("offset", ["inf", "-inf", "nan", "1e308", "1001"])
def test_offsets_beyond_all_scores(desk: Desk, offset: str) -> None:
    for arguments in (["align", desk.text, "-m", desk.model], ["align", "nothing"]):  # before anything is read
        result = invoke(*arguments, f"--offset={offset}")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"an offset of {float(offset)} is not possible (give one from")


def test_a_pair_that_does_not_fit_into_memory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    words = 2 * max(len(line.split()) for text in (desk.source, desk.target) for line in text.read_text().splitlines())
    monkeypatch.setattr("corpora.corpus.usable_memory", lambda: BYTES_A_WORD_PAIR * (words**2 - 1))
    for text in (desk.source, desk.target):
        lines = text.read_text().splitlines()
        text.write_text("\n".join([*lines[:4], " ".join(["word"] * words), *lines[5:]]))
    for arguments in (
        ["align", desk.text, "-m", desk.model],
        ["align", desk.source, desk.target],
        ["train", desk.source, desk.target, "-m", desk.folder / "X", "-q"],
        ["train", desk.source, desk.target, "--gold", desk.text, "-m", desk.folder / "X", "-q"],
    ):
        message = refused(*arguments, line=5)
        assert message.startswith(f"{desk.source}:5: {words} source and {words} target words need more memory than")
    long = b"a ||| b\n%s ||| %s\n" % ((b"word " * words,) * 2)
    found = invoke("align", "-", "-m", desk.model, stdin=long)
    assert (found.exit_code, found.stdout.count("\n")) == (1, 1)
    assert found.stderr.startswith(f"-:2: {words} source and")
