"""Aligning much text: shards, outputs that go on where a process was ended, samples that are counted."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import pytest
from commands import TIMEOUT, refused, run, wait_for, write

import aligner
from corpora.files import pack, read_lines

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk

SMALL_BLOCKS = """if True:
    import sys
    import aligner.model.aligning, corpora.resuming
    aligner.model.aligning.PAIRS_AT_ONCE, corpora.resuming.PARTS_A_BLOCK = 8, 2
    from aligner.cli import main
    main()
"""


@contextmanager
def disk_full_after(syncs: int) -> Iterator[None]:
    """Within this block a few more blocks come to the disk."""
    calls = count()

    def full(descriptor: int) -> None:
        if next(calls) >= syncs:
            raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", full)
        yield


def test_what_is_not_for_pipes_or_tables(desk: Desk) -> None:
    assert "whose columns have names" in refused("align", desk.source, "--columns", "a,b", "-m", desk.model)
    assert "no pipe" in refused("align", "-", "-m", desk.model, "--shard", "1/2", stdin=b"a ||| b\n")


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.model.aligning.PAIRS_AT_ONCE", 8)
    monkeypatch.setattr("corpora.resuming.PARTS_A_BLOCK", 2)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("out", ["--max-length", "12", "--set", "long_pairs=drop"]), ("out.gz", []),
        ("out.jsonl", ["--format", "jsonl", "--shard", "2/2"]),
    ],
)  # fmt: skip
def test_an_output_that_goes_on(desk: Desk, name: str, more: list[str]) -> None:
    """After any end, see the tests of `corpora.resuming`: it is the whole, and so are its counts."""
    out, options = desk.folder / name, ["align", desk.source, desk.target, "-m", desk.model, *more]
    whole = run(*options)
    before = {*desk.contents()}
    for syncs in (2, 1, 3):  # those of the journal's head, of half a block, and more
        with disk_full_after(syncs):
            assert "No space left on device (check the disk)" in refused(*options, "-o", out, "--resume", "-q")
        assert {*desk.contents()} - before == {f"{name}.partial", f"{name}.partial.journal"}
    result = run(*options, "-o", out, "--resume")
    assert {*desk.contents()} - before == {name, f"{name}.finished"}
    there = desk.contents()
    again = run(*options, "-o", out, "--resume")
    assert re.search(rf"{name}: finished already, [1-9]\d* pairs\n", again.stderr)
    assert desk.contents() == there
    assert b"".join(line + b"\n" for line in read_lines(out)) == whole.stdout_bytes
    told = re.sub(rf"[^\n]*{name}: goes on after [1-9]\d* pairs\n", "", result.stderr)
    assert told != result.stderr
    assert told.split(" words without")[0] == whole.stderr.split(" words without")[0]


@pytest.mark.usefixtures("_small_blocks")
def test_what_was_begun_otherwise_is_refused(desk: Desk) -> None:
    out, other, model = desk.folder / "out", desk.folder / "x.en", ["-m", desk.model]
    texts, resume = [desk.source, desk.target], ["-o", out, "--resume"]
    with disk_full_after(4):
        refused("align", *texts, *model, *resume, "-q")
    write(other, *desk.source.read_text("utf-8").replace("the", "a").splitlines())
    run("train", "--update", desk.model, *texts, "-m", desk.folder / "N", "-q")
    before = desk.contents()
    for arguments, what in (
        ([other, desk.target, *model], "text"),
        ([*texts, "-m", desk.folder / "N"], "model"),
        ([*texts, *model, "--offset", 0.5], "offset"),
        ([*texts, *model, "--format", "jsonl"], "format"),
        ([*texts, *model, "--set", "candidates=all"], "candidates"),
        ([*texts, *model, "--max-length", 50], "max_length"),
    ):
        message = refused("align", *arguments, *resume, "-q")
        assert message.startswith(f"{out}.partial.journal: was begun with another {what} (")
        assert desk.contents() == before
    packed = [path.with_name(f"{path.name}.gz") for path in texts]
    for path, plain in zip(packed, texts, strict=True):
        path.write_bytes(pack(".gz", plain.read_bytes()))
    run("align", *packed, *model, *resume)
    assert out.read_text() == run("align", desk.text, *model).stdout, "the text is the same, packed or not"


@pytest.mark.slow
def test_a_signal_says_that_the_output_waits(desk: Desk) -> None:
    """Kills at any moment are in the tests of the campaign."""
    for path in (desk.source, desk.target):
        path.write_bytes(100 * path.read_bytes())
    options = ["align", desk.source, desk.target, "-m", desk.model, "-o", desk.folder / "out", "--resume", "-q"]
    partial = desk.folder / "out.partial"
    command = [sys.executable, "-c", SMALL_BLOCKS, *map(str, options)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: process.poll() is not None or (partial.exists() and partial.stat().st_size))
        process.terminate()
        message = process.communicate(timeout=TIMEOUT)[1]
    expected = 128 + signal.SIGTERM, f"terminated: {partial} waits for the same command\n"
    assert (process.returncode, message) == expected
    assert partial.exists()


@pytest.mark.parametrize("piped", [False, True])
def test_a_sample_is_counted_and_all_is_aligned(desk: Desk, piped: bool) -> None:
    text = write(desk.folder / "t.txt", *desk.joint(" ||| "))
    options, stdin = ["align", "-" if piped else text, "-q"], text.read_bytes() if piped else b""
    found = run(*options, "--sample", 40, "--set", "seed=5", stdin=stdin).stdout
    assert found.count("\n") == desk.n_pairs > 40
    assert run(*options, "--sample", desk.n_pairs, stdin=stdin).stdout == run(*options, stdin=stdin).stdout != found
    run("train", text, "-m", desk.folder / "S", "--sample", 40, "--set", "seed=5", "-q")
    assert run("align", text, "-m", desk.folder / "S", "-q").stdout == found
    record = aligner.load(desk.folder / "S").record
    assert (record["pairs"], record["sample"]) == (40, 40)


def test_bad_lines_beside_the_sample_are_found(desk: Desk) -> None:
    for place in (0, desk.n_pairs // 2, desk.n_pairs - 1):
        lines = desk.joint(" ||| ")
        lines[place] = "no pair"
        text = write(desk.folder / "t.txt", *lines)
        for arguments in (["align", text], ["train", text, "-m", desk.folder / "S"]):
            refused(*arguments, "--sample", 1, "-q", line=place + 1)
