"""Aligning much text: shards, outputs that go on where a process was ended, other forms of input, long pairs."""

from __future__ import annotations

import gzip
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import TIMEOUT, invoke, refused, run, write

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


def sides(desk: Desk) -> list[list[str]]:
    """The lines of the source and of the target."""
    return [path.read_text("utf-8").splitlines() for path in (desk.source, desk.target)]


def packed(desk: Desk, suffix: str) -> list[Path]:
    """Both texts, packed."""
    paths = [path.with_name(f"{path.name}{suffix}") for path in (desk.source, desk.target)]
    for path in paths:
        path.write_bytes(pack(suffix, path.with_suffix("").read_bytes()))
    return paths


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


@pytest.mark.parametrize("format_", ["pharaoh", "jsonl"])
def test_shards_are_the_whole(desk: Desk, format_: str) -> None:
    """Of texts in any form: see the tests of corpora."""
    command = ["align", desk.source, desk.target, "-m", desk.model, "-q", "--format", format_]
    whole = run(*command).stdout_bytes
    for n in range(1, 8):
        assert b"".join(run(*command, "--shard", f"{i}/{n}").stdout_bytes for i in range(1, n + 1)) == whole, n


def test_more_shards_than_lines(desk: Desk) -> None:
    short = [write(desk.folder / f"s.{k}", *side[:3]) for k, side in enumerate(sides(desk))]
    whole = run("align", *short, "-m", desk.model, "-q").stdout
    outputs = [desk.folder / f"out.{i}.gz" for i in range(1, 8)]
    for i, output in enumerate(outputs, 1):
        run("align", *short, "-m", desk.model, "--shard", f"{i}/7", "-o", output, *["--resume"][: i % 2])
    parts = [output.read_bytes() for output in outputs]
    assert [gzip.decompress(part) for part in parts].count(b"") == 4
    assert gzip.decompress(b"".join(parts)).decode() == whole


def test_wrong_usage(desk: Desk) -> None:
    model = ["-m", desk.model]
    for arguments, what in (
        ([desk.text, *model, "--shard", "0/3"], "'0/3' is not I/N"),
        ([desk.text, *model, "--shard", "4/3"], "'4/3' is not I/N"),
        ([desk.text, "--shard", "1/3"], "without one all text is read before any is aligned"),
        ([desk.text, "--resume", "-o", desk.folder / "F"], "without one all text is read before any is aligned"),
        ([desk.text, *model, "--resume"], "--resume needs a file to write into (name it with --output)"),
        (["-", *model, "--resume", "-o", desk.folder / "F"], "--resume needs a text that can be read again"),
        ([desk.text, *model, "--columns", "1"], "'1' is not S,T"),
        ([desk.text, *model, "--columns", "0,1"], "'0,1' is not S,T"),
        ([desk.text, *model, "--columns", "1,b"], "'1,b' is not S,T"),
        ([desk.source, desk.target, *model, "--columns", "1,2"], "--columns is of one file"),
        ([desk.source, desk.target, "--columns", "1,2"], "--columns is of one file"),
    ):
        before = desk.contents()
        result = invoke("align", *arguments)
        assert result.exit_code == 2
        assert what in " ".join(result.stderr.replace("│", " ").split()), result.stderr
        assert desk.contents() == before
    assert "whose columns have names" in refused("align", desk.source, "--columns", "a,b", *model)
    assert "no pipe" in refused("align", "-", *model, "--shard", "1/2", stdin=b"a ||| b\n")


def test_columns_of_a_pipe(desk: Desk) -> None:
    expected = run("align", "-", "-m", desk.model, "-q", stdin=b"the house ||| la maison\n\nyes ||| oui\n").stdout
    tabs = b"la maison\t1\tthe house\n\noui\t2\tyes\n"
    objects = b'{"en": "the house", "fr": "la maison"}\n\n{"fr": "oui", "en": ["yes"]}\n'
    for stdin, columns in ((tabs, "3,1"), (objects, "en,fr")):
        assert run("align", "-", "-m", desk.model, "-q", "--columns", columns, stdin=stdin).stdout == expected
    assert "has no column 4" in invoke("align", "-", "-m", desk.model, "--columns", "4,1", stdin=tabs).stderr


@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize("piped", [True, False])
def test_what_becomes_of_long_pairs(desk: Desk, with_model: bool, piped: bool) -> None:
    lines, most = sides(desk), 12
    joint = [f"{a} ||| {b}" for a, b in zip(*lines, strict=True)]
    is_long = [max(len(a.split()), len(b.split())) > most for a, b in zip(*lines, strict=True)]
    text = write(desk.folder / "t.txt", *joint)
    model = ["-m", desk.model] if with_model else []
    stdin = text.read_bytes() if piped else b""
    options = ["align", "-" if piped else text, *model, "-q", "--max-length", most, "--set"]
    empty, drop = (run(*options, f"long_pairs={what}", stdin=stdin) for what in ("empty", "drop"))
    found = empty.stdout.splitlines()
    assert [not links for links, long in zip(found, is_long, strict=True) if long] == [True] * sum(is_long)
    assert drop.stdout.count("\n") == is_long.count(False)
    if with_model:
        assert drop.stdout.splitlines() == [links for links, long in zip(found, is_long, strict=True) if not long]
    first = is_long.index(True) + 1
    for result, what in ((empty, "empty"), (drop, "empty, or out if they are long")):
        assert f"pairs left {what}: {sum(is_long)}, the first at {'-' if piped else text}:{first}; " in result.stderr
    message = invoke(*options, "long_pairs=error", stdin=stdin)
    assert message.exit_code == 1
    hint = "raise --max-length, or choose another way for --set long_pairs"
    assert f":{first}: a side has more than 12 words ({hint})" in message.stderr


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.model.aligning.PAIRS_AT_ONCE", 8)
    monkeypatch.setattr("corpora.resuming.PARTS_A_BLOCK", 2)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("name", ["out", "out.gz", "out.jsonl"])
@pytest.mark.parametrize("more", [[], ["--shard", "2/2"], ["--max-length", 12, "--set", "long_pairs=drop"]])
def test_an_output_that_goes_on(desk: Desk, name: str, more: list[object]) -> None:
    out = desk.folder / name
    options = [
        "align", desk.source, desk.target, "-m", desk.model, "--format", "jsonl" if "j" in name else "pharaoh",
        *more,
    ]  # fmt: skip
    whole = run(*options, "-q")
    run(*options, "-o", desk.folder / f"whole-{name}", "--resume")
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
    assert out.read_bytes() == (desk.folder / f"whole-{name}").read_bytes()
    assert b"".join(line + b"\n" for line in read_lines(out)) == whole.stdout_bytes
    counted = run(*options, "-o", desk.folder / "F").stderr
    assert result.stderr.split(" words without")[0] == counted.split(" words without")[0], "counts are of the whole"


@pytest.mark.usefixtures("_small_blocks")
def test_what_was_begun_otherwise_is_refused(desk: Desk) -> None:
    out = desk.folder / "out"
    options = ["-o", out, "--resume"]
    with disk_full_after(4):
        refused("align", desk.source, desk.target, "-m", desk.model, "-q", *options)
    other = write(desk.folder / "x.en", *desk.source.read_text("utf-8").replace("the", "a").splitlines())
    run("train", "--update", desk.model, desk.source, desk.target, "-m", desk.folder / "N", "-q")
    before = desk.contents()
    for arguments, what in (
        ([other, desk.target, "-m", desk.model], "text"),
        ([desk.source, desk.target, "-m", desk.folder / "N"], "model"),
        ([desk.source, desk.target, "-m", desk.model, "--offset", 0.5], "offset"),
        ([desk.source, desk.target, "-m", desk.model, "--format", "jsonl"], "format"),
        ([desk.source, desk.target, "-m", desk.model, "--set", "candidates=all"], "candidates"),
        ([desk.source, desk.target, "-m", desk.model, "--max-length", 50], "max_length"),
    ):
        assert refused("align", *arguments, *options, "-q").startswith(
            f"{out}.partial.journal: was begun with another {what} ("
        )
        assert desk.contents() == before
    run("align", *packed(desk, ".gz"), "-m", desk.model, *options)
    assert out.read_text() == run("align", desk.text, "-m", desk.model).stdout, "the text is the same, packed or not"


def process(*arguments: object, limit: int | None = None) -> subprocess.Popen[bytes]:
    """Start a command with blocks of 16 pairs.  limit: bytes of a file."""
    limits = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    command = [sys.executable, "-c", SMALL_BLOCKS, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=limits)


def long_text(desk: Desk, times: int) -> list[object]:
    """A command that aligns the text of the desk so many times."""
    texts = [desk.folder / name for name in ("l.en", "l.fr")]
    for path, plain in zip(texts, (desk.source, desk.target), strict=True):
        path.write_bytes(plain.read_bytes() * times)
    return ["align", *texts, "-m", desk.model, "-q"]


@pytest.mark.slow
def test_ten_kills(desk: Desk) -> None:
    """At random moments; the command then goes on to its end."""
    rng, out, killed = random.Random(0), desk.folder / "out.gz", 0
    command = [*long_text(desk, 80), "-o", out, "--resume"]
    journal = desk.folder / "out.gz.partial.journal"
    for _ in range(10):
        size = journal.stat().st_size if journal.exists() else 0
        with process(*command) as running:
            if rng.random() < 0.7:  # else while it starts
                while running.poll() is None and not (journal.exists() and journal.stat().st_size > size):
                    time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.1))
            running.kill()
            running.communicate(timeout=TIMEOUT)
        if running.returncode != -signal.SIGKILL:
            break  # it had ended
        killed += 1
    assert killed > 5
    if not out.exists():
        run(*command)
    assert b"".join(line + b"\n" for line in read_lines(out)) == run(*long_text(desk, 80)).stdout_bytes


@pytest.mark.slow
def test_a_full_disk_and_then_a_larger_one(desk: Desk) -> None:
    command, out = long_text(desk, 20), desk.folder / "out"
    whole = run(*command).stdout_bytes
    for limit in (5_000, 12_345, len(whole) - 1):
        with process(*command, "-o", out, "--resume", limit=limit) as running:
            message = running.communicate(timeout=TIMEOUT)[1].decode()
        assert running.returncode == 1
        assert re.fullmatch(
            rf"{out}(\.partial)?: (File too large|No space left on device) \(check the disk\)\n", message
        )
        assert 0 < (desk.folder / "out.partial").stat().st_size <= limit
        assert not out.exists()
    run(*command, "-o", out, "--resume")
    assert out.read_bytes() == whole


@pytest.mark.slow
def test_a_signal_says_that_the_output_waits(desk: Desk) -> None:
    out = desk.folder / "out"
    command = [*long_text(desk, 100), "-o", out, "--resume"]
    partial = desk.folder / "out.partial"
    with process(*command) as running:
        while running.poll() is None and not (partial.exists() and partial.stat().st_size):
            time.sleep(0.002)
        running.terminate()
        message = running.communicate(timeout=TIMEOUT)[1].decode()
    assert (running.returncode, message) == (143, f"terminated: {partial} waits for the same command\n")
    assert partial.exists()


@pytest.mark.parametrize("piped", [False, True])
def test_a_sample_is_counted_and_all_is_aligned(desk: Desk, piped: bool) -> None:
    joint = [f"{a} ||| {b}" for a, b in zip(*sides(desk), strict=True)]
    text = write(desk.folder / "t.txt", *joint)
    options, stdin = ["align", "-" if piped else text, "-q"], text.read_bytes() if piped else b""
    found = run(*options, "--sample", 40, "--set", "seed=5", stdin=stdin).stdout
    assert found.count("\n") == len(joint) > 40
    assert found != run(*options, "--sample", 40, "--set", "seed=6", stdin=stdin).stdout
    assert run(*options, "--sample", len(joint), stdin=stdin).stdout == run(*options, stdin=stdin).stdout
    run("train", text, "-m", desk.folder / "S", "--sample", 40, "--set", "seed=5", "-q")
    assert run("align", text, "-m", desk.folder / "S", "-q").stdout == found
    record = aligner.load(desk.folder / "S").record
    assert (record["pairs"], record["sample"]) == (40, 40)


def test_bad_lines_beside_the_sample_are_found(desk: Desk) -> None:
    joint = [f"{a} ||| {b}" for a, b in zip(*sides(desk), strict=True)]
    for place in (0, len(joint) // 2, len(joint) - 1):
        text = write(desk.folder / "t.txt", *joint[:place], "no pair", *joint[place + 1 :])
        for arguments in (["align", text], ["train", text, "-m", desk.folder / "S"]):
            refused(*arguments, "--sample", 1, "-q", line=place + 1)
    assert "--sample has no effect with --unsupervised" in invoke("align", text, "--sample", 1, "--unsupervised").stderr
