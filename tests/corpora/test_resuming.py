"""An output in blocks is what it would have been in one go, wherever an end comes, and whatever is left of it."""

import gzip
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import refuses

from corpora import SettingError
from corpora.errors import CorpusError
from corpora.resuming import PartialOutput, unfinished

HEAD = {"command": "test", "text": "one"}
PARTS = [b"%d\n" % 7**n for n in range(20)]


class KilledError(Exception):
    """The end of a process."""


def write(path: Path, parts: int | None = None, force: bool = False, head: dict[str, str] = HEAD) -> None:
    """Write all parts that are not there; or end after some."""
    blocks = PartialOutput(path, force=force)
    blocks.begin(head)
    done = sum(blocks.counts)
    try:
        with blocks.written() as file:
            for number in range(done, len(PARTS)):
                if parts is not None and number - done == parts:
                    raise KilledError
                file.write(PARTS[number])
                blocks.part_ends([number + 1])
    except KilledError:
        pass


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora.resuming.PARTS_A_BLOCK", 3)


@settings(max_examples=60)
@given(
    ends=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 80), st.integers(0, 200)), max_size=6),
    suffix=st.sampled_from(["", ".gz"]),
    damage=st.booleans(),
)
def test_any_ends(
    tmp_path_factory: pytest.TempPathFactory, ends: list[tuple[int, int, int]], suffix: str, damage: bool
) -> None:
    """After each some bytes at the end of the file and of the journal are lost, or become others."""
    folder = tmp_path_factory.mktemp("ends")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("corpora.resuming.PARTS_A_BLOCK", 3)
        patch.setattr(os, "fsync", lambda descriptor: None)
        write(folder / f"whole{suffix}")
        path = folder / f"out{suffix}"
        partial, journal = folder / f"out{suffix}.partial", folder / f"out{suffix}.partial.journal"
        for parts, lost, lost_of_journal in ends:
            write(path, parts)
            if not partial.exists():
                break
            content = partial.read_bytes()
            rest = bytes(lost) if damage else b""
            partial.write_bytes(content[: max(0, len(content) - lost)] + rest)
            head, entries = journal.read_bytes().split(b"\n", 1)
            journal.write_bytes(head + b"\n" + entries[: max(0, len(entries) - lost_of_journal)])
        if not path.exists():
            write(path)
    whole = (folder / f"whole{suffix}").read_bytes()
    assert path.read_bytes() == whole
    assert (gzip.decompress(whole) if suffix else whole) == b"".join(PARTS)
    assert not partial.exists()
    assert not journal.exists()


def test_what_was_written_is_not_written_again(tmp_path: Path) -> None:
    write(tmp_path / "out", 7)
    partial = tmp_path / "out.partial"
    assert partial.read_bytes() == b"".join(PARTS[:6])
    assert partial.resolve() in unfinished
    assert not (tmp_path / "out").exists()
    before = partial.stat().st_ino
    write(tmp_path / "out")
    assert (tmp_path / "out").stat().st_ino == before
    assert partial.resolve() not in unfinished


@pytest.mark.parametrize("journal", ["out.finished", "out.partial.journal"])
def test_what_is_finished_is_known_again(tmp_path: Path, journal: str) -> None:
    """Also after an end between the renaming of the output and that of the journal."""
    out, after = tmp_path / "out", {"out", "out.finished"}
    write(out)
    assert {path.name for path in tmp_path.iterdir()} == after
    (tmp_path / "out.finished").rename(tmp_path / journal)
    before = out.stat()
    write(out, 0)
    assert os.path.samestat(out.stat(), before)
    assert out.stat().st_mtime_ns == before.st_mtime_ns
    assert {path.name for path in tmp_path.iterdir()} == after
    (tmp_path / "out.finished").rename(tmp_path / journal)
    content = out.read_bytes()
    assert content == b"".join(PARTS)
    with refuses(rf"{journal}: was begun with another text \(give the one .*, or pass `force`"):
        write(out, head={**HEAD, "text": "another"})
    out.write_bytes(b"other")
    with refuses(rf"{journal}: is not of out \(pass `force`"):
        write(out)
    assert out.read_bytes() == b"other"
    write(out, 7, force=True)
    assert out.read_bytes() == b"other"
    write(out, force=True, head={**HEAD})
    assert out.read_bytes() == content
    out.unlink()
    write(out, head={**HEAD, "text": "another"})
    assert out.read_bytes() == content
    assert {path.name for path in tmp_path.iterdir()} == after


def test_a_file_that_another_process_has_written_in_the_meantime_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    blocks = PartialOutput(out, force=False)
    blocks.begin(HEAD)
    with refuses("out: file exists: another process"), blocks.written():
        out.write_bytes(b"other")
    assert out.read_bytes() == b"other"


def entry(end: object, counts: str, crc32: int = 0) -> str:
    return f'{{"start": 0, "end": {end}, "crc32": {crc32}, "counts": {counts}}}'


FORGED = [
    entry(0, "[99]"), entry(0, f"[{10**30}]"), entry(-1, "[0]"), entry(10**30, "[0]"), entry(10**12, "[0]"),
    *[entry(2, counts, 3252585583) for counts in ('["a"]', "[2]", "1")], entry(0.0, "[]"), '{"start": 0}',
    entry(2, "[1]").replace("0", "[]", 1),
]  # fmt: skip


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_journal_is_not_believed(tmp_path: Path, forged: str, suffix: str) -> None:
    """It is refused, or the work done anew: no line is missing."""
    write(tmp_path / f"out{suffix}", 7)
    journal = tmp_path / f"out{suffix}.partial.journal"
    head = journal.read_text().splitlines()[0]
    journal.write_text(f"{head}\n{forged}\n")
    with suppress(CorpusError):
        write(tmp_path / f"out{suffix}")
    if (tmp_path / f"out{suffix}").exists():
        content = (tmp_path / f"out{suffix}").read_bytes()
        assert (gzip.decompress(content) if suffix else content) == b"".join(PARTS)
    else:
        with refuses(r"out\S*.partial.journal:(\d:)? is not (of a file that is here|an entry of a journal) \("):
            write(tmp_path / f"out{suffix}")


def test_a_journal_too_deep_is_one_line(tmp_path: Path) -> None:
    write(tmp_path / "out", 7)
    with (tmp_path / "out.partial.journal").open("ab") as journal:
        journal.write(b"[" * 100_000 + b"\n")
    with refuses(r"out.partial.journal:4: is not an entry of a journal"):
        write(tmp_path / "out")


@pytest.mark.parametrize("mode", [0o600, 0o444])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    (tmp_path / "out").touch()
    (tmp_path / "out").chmod(mode)
    write(tmp_path / "out", 7, force=True)
    assert S_IMODE((tmp_path / "out.partial").stat().st_mode) == mode | 0o600
    write(tmp_path / "out", force=True)
    assert S_IMODE((tmp_path / "out").stat().st_mode) == mode


def test_what_is_refused(tmp_path: Path) -> None:
    out, partial, journal = (tmp_path / name for name in ("out", "out.partial", "out.partial.journal"))
    write(out, 7)
    there = partial.read_bytes(), journal.read_bytes()
    with refuses(r"^\S*/out.partial.journal: was begun with another text \(give the one .*out.partial"):
        write(out, head={**HEAD, "text": "another"})
    blocks = PartialOutput(out, force=False)
    blocks.begin(HEAD)
    with refuses(r"out.partial.journal: is being written by another process \(wait"):
        PartialOutput(out, force=False).begin(HEAD)
    with suppress(KilledError), blocks.written():
        raise KilledError
    assert (partial.read_bytes(), journal.read_bytes()) == there
    journal.unlink()
    with refuses(r"out.partial: file exists, without its journal"):
        write(out)
    partial.unlink()
    journal.write_bytes(there[1])
    with refuses(r"out.partial.journal: is not of a file that is here \(delete it"):
        write(out)
    journal.write_bytes(b'{"pairs": 3}\n')
    with refuses(r"out.partial.journal: was begun with another command"):
        write(out)
    journal.unlink()
    out.write_bytes(b"old")
    with refuses(r"out: file exists"):
        write(out)
    write(out, 7, force=True)
    assert out.read_bytes() == b"old"
    write(out, force=True)
    assert out.read_bytes() == b"".join(PARTS)
    for name in ("-", os.devnull):
        with refuses("`resume` needs a file to write into", SettingError):
            PartialOutput(name, force=True)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block that is not on disk as a whole is written again."""
    write(tmp_path / "out", 7)
    for synced in range(4):
        calls = iter([None] * synced)

        def full(descriptor: int, calls: Iterator[None] = calls) -> None:
            if next(calls, OSError) is OSError:
                raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OSError, match="No space"):
                write(tmp_path / "out")
    write(tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"".join(PARTS)
