"""Lines come out as they went in, whatever the packing; files appear whole or not at all."""

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from stat import S_IMODE

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import refuses

from corpora import SettingError, files
from corpora.errors import CorpusError
from corpora.files import (
    count_lines,
    open_bytes,
    pack,
    read_lines,
    refuse_inputs,
    spill_file,
    spill_folder,
    spilling_beside,
    write_atomically,
    write_packed,
)

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
with suppress(SettingError):  # without the package
    pack(".zst", b"")
    PACKERS["zstd"] = partial(pack, ".zst")
PACKED = [packer for packer in PACKERS if packer != "plain"]
BOM = b"\xef\xbb\xbf"
ODD = "un\u00e9 \u2028deux\x0btrois\x85 \u00a0quatre\rcinq\x0c".encode()


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [b"", b"end"])
def test_lines_end_at_newlines_only(tmp_path: Path, packer: str, ending: bytes, last: bytes) -> None:
    file = tmp_path / "text.any"  # the name says nothing about the packing
    lines = [ODD, b"", b" two  spaces\t", BOM + b"a mark that counts only at the start"]
    file.write_bytes(PACKERS[packer](BOM + ending.join([*lines, last])))
    assert list(read_lines(file)) == [*lines, *([last] if last else [])]


@settings(max_examples=80)
@given(
    text=(st.text(alphabet="ab\r\n", max_size=40).map(str.encode) | st.binary(max_size=40)).map(
        lambda text: text.rstrip(b"\r")
    ),
    mark=st.sampled_from([b"", BOM]),
    buffer=st.integers(8, 20),
    packer=st.sampled_from([*PACKERS]),
)
def test_lines_are_read_counted_and_passed_over(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, mark: bytes, buffer: int, packer: str
) -> None:
    """Whatever bytes they have."""
    file, content = tmp_path_factory.mktemp("count") / "file", mark + b"first\n" + text
    file.write_bytes(PACKERS[packer](content))
    *whole, last = text.split(b"\n")
    lines = [b"first", *(line.rstrip(b"\r") for line in [*whole, *([last] if last else [])])]
    assert list(read_lines(file)) == lines
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("corpora.files.BUFFER_BYTES", buffer)
        assert count_lines(file) == len(lines)
        for start in range(1, len(lines) + 2):
            assert list(read_lines(file, start)) == lines[start:]


@pytest.mark.parametrize("packer", PACKERS)
def test_files_packed_one_after_the_other_are_one(tmp_path: Path, packer: str) -> None:
    file = tmp_path / "file"
    skipped = b"\x50\x2a\x4d\x18\x04\x00\x00\x00size" if packer == "zstd" else b""  # a frame as pzstd writes them
    file.write_bytes(b"".join(skipped + PACKERS[packer](part) for part in (b"a\nb", b"", b"c\n", b"d\n" * 9000)))
    assert list(read_lines(file)) == [b"a", b"bc", *[b"d"] * 9000]
    assert count_lines(file) == 9002


def test_zstd_needs_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "file").write_bytes(b"\x28\xb5\x2f\xfd\x24\x04\x21\x00\x00a\n")
    for name, wanted in (
        (f"{tmp_path}/file: ", lambda: list(read_lines(tmp_path / "file"))),
        ("", lambda: write_packed(tmp_path / "out.zst")),
    ):
        needs = rf"^{re.escape(name)}zstd needs a package .* \(pip install backports\.zstd\)$"
        with refuses(needs, SettingError):
            wanted()
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("packer", PACKERS)
def test_standard_input_is_read_and_left_open(monkeypatch: pytest.MonkeyPatch, packer: str) -> None:
    stdin = io.BufferedReader(io.BytesIO(PACKERS[packer](b"a\nb\n")))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
    assert list(read_lines("-")) == [b"a", b"b"]
    assert not stdin.closed


def test_a_pipe_is_opened_once(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as stream:
        stream.write(gzip.compress(b"a\nb\n"))
    try:
        assert list(read_lines(f"/dev/fd/{reader}")) == [b"a", b"b"]
    finally:
        os.close(reader)


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("more", [0, 1])
def test_a_line_has_a_largest_size(tmp_path: Path, packer: str, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many reads it takes, and whether or not it ends."""
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    for end in (b"", b"\nb\n"):
        (tmp_path / "file").write_bytes(PACKERS[packer](b"a\n" + bytes((1 << 20) + more) + end))
        lines = read_lines(tmp_path / "file")
        assert next(lines) == b"a"
        if more:
            with refuses(r"file:2: has more than 1 MiB without an end \(is it text\?"):
                next(lines)
        else:
            assert len(next(lines)) == 1 << 20


@pytest.mark.parametrize("name", ["no\nsuch", "no\x1b]0;t\x07pe", "no\u2028such", "no\udce9"])
def test_a_name_is_printed_on_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError) as raised:
        next(read_lines(tmp_path / name))
    assert str(raised.value).isprintable()
    assert raised.value.path == f"{tmp_path}/{name}"


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path, what in ((tmp_path / "none", "none: no such file"), (tmp_path, ": is a folder")):
        with refuses(what):
            list(read_lines(path))
    with refuses(r"none: no such file"), open_bytes(tmp_path / "none"):
        pass
    if os.geteuid() != 0:  # root may read everything
        (tmp_path / "secret").touch(mode=0)
        with refuses(r"secret: permission denied"):
            list(read_lines(tmp_path / "secret"))


@pytest.mark.parametrize("packer", PACKED)
def test_cut_off_data_names_the_line_reached(tmp_path: Path, packer: str) -> None:
    lines = [b"%d" % (7**k) for k in range(800)]
    content = b"\n".join(lines)
    (tmp_path / "cut").write_bytes(PACKERS[packer](content)[:-40])
    reached: list[bytes] = []
    with refuses("the compressed data ends too early") as caught:
        reached.extend(read_lines(tmp_path / "cut"))
    assert reached == lines[: caught.value.line]
    (tmp_path / "head").write_bytes(PACKERS[packer](content)[:8])
    with refuses(r"head: the compressed data ends too early"):
        list(read_lines(tmp_path / "head"))
    for name in ("cut", "head"):
        with refuses(f"{name}: the compressed data ends too early"):
            count_lines(tmp_path / name)


@pytest.mark.parametrize(("packer", "where"), [("gzip", 1.0), *((packer, 0.5) for packer in PACKED)])
def test_damaged_data_names_the_line_reached(tmp_path: Path, packer: str, where: float) -> None:
    packed = bytearray(PACKERS[packer](b"".join(b"%d\n" % (7**k) for k in range(800))))
    start = int(where * len(packed))
    packed[start : start + 64] = b"garbage " * 8
    (tmp_path / "bad").write_bytes(packed)
    reached: list[bytes] = []
    with refuses("the compressed data is damaged") as caught:
        reached.extend(read_lines(tmp_path / "bad"))
    assert caught.value.line == len(reached)


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize(
    ("content", "what", "remedy"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00", "a zip archive or a document such as .docx", "plain text"),
        (b"%PDF-1.7\n", "a document such as .pdf", "plain text"),
    ],
)
def test_what_is_no_plain_text(tmp_path: Path, packer: str, content: bytes, what: str, remedy: str) -> None:
    (tmp_path / "file").write_bytes(PACKERS[packer](content))
    with refuses(f"file: is {what}.*, not plain text .*{remedy}"):
        list(read_lines(tmp_path / "file"))


@pytest.mark.parametrize(("suffix", "packer"), [*zip(["", ".gz", ".xz", ".bz2", ".zst"], PACKERS, strict=False)])
def test_outputs_are_packed_as_their_names_say(tmp_path: Path, suffix: str, packer: str) -> None:
    lines = [b"%d\n" % (7**k) for k in range(500)]
    for name in ("one", "two"):
        with write_packed(tmp_path / (name + suffix)) as stream:
            stream.writelines(lines)
    one, two = ((tmp_path / (name + suffix)).read_bytes() for name in ("one", "two"))
    assert one == two, "no time, no name"
    assert one[:3] == PACKERS[packer](b"".join(lines))[:3]
    assert list(read_lines(tmp_path / f"one{suffix}")) == [line[:-1] for line in lines]
    with refuses(r"out.zip: cannot be packed as .zip \(name it out or out.gz"):
        write_packed(tmp_path / "out.zip")


def test_an_output_is_no_input(tmp_path: Path) -> None:
    for name in ("file", "other"):
        (tmp_path / name).write_bytes(b"a\n")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for output in ("file", "link"):
        with refuses(f"{output}: is read here, and would be replaced"):
            refuse_inputs(tmp_path / output, [None, tmp_path / "other", tmp_path / "file"])
    refuse_inputs(tmp_path / "new", [tmp_path / "file"])
    refuse_inputs("-", ["-"])
    refuse_inputs(os.devnull, [os.devnull])


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no folder in which nobody can make a file")
def test_a_folder_that_takes_no_files_is_found_before_any_work(tmp_path: Path) -> None:
    with refuses(r"out: no file can be made in its folder: .* \(choose another folder\)"):
        write_atomically("/proc/self/out")
    with write_atomically(tmp_path / "out"):
        assert len([*tmp_path.iterdir()]) == 1, "asking leaves nothing"


def test_a_file_appears_only_when_complete(tmp_path: Path) -> None:
    file = tmp_path / "out"
    with write_atomically(file) as stream:
        stream.write(b"whole")
        assert not file.exists()
    assert file.read_bytes() == b"whole"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    (tmp_path / "plain").touch()
    assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode
    with refuses(r"out: file exists \(choose another name or pass `force`\)"):
        write_atomically(file)
    for path, what in ((tmp_path, "is a folder"), (tmp_path / "no" / "out", "its folder does not exist")):
        with refuses(what):
            write_atomically(path, force=True)


@pytest.mark.parametrize("name", ["out", "x" * 255, "é" * 127])
def test_an_unfinished_file_tells_whose_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with write_atomically(path, force=True), write_atomically(path, force=True):  # two at a time do not meet
        for unfinished in tmp_path.iterdir():
            assert unfinished.name.startswith(f".{name[:50]}.aligner-{os.getpid()}-")
            assert unfinished.suffix == ".tmp"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("links", [True, False])
def test_of_two_writers_without_force_the_second_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """Also where the file system has no hard links."""
    if not links:
        monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(PermissionError(1, "not permitted")))
    first, second = (write_atomically(tmp_path / "out") for _ in range(2))
    refused = refuses(r"out: file exists: another process has written .* \(choose another name or")
    with refused, second as later:
        with first as sooner:
            sooner.write(b"first")
        later.write(b"second")
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() == b"first"
    assert (tmp_path / "out").stat().st_nlink == 1


def test_a_file_is_on_the_disk_before_its_name_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, bool]] = []

    def sync(descriptor: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), (tmp_path / "out").exists()))
        assert synced[-1][0] or os.fstat(descriptor).st_size == 5, "all is handed to the system before"

    monkeypatch.setattr(os, "fsync", sync)
    with write_atomically(tmp_path / "out") as stream:
        stream.write(b"whole")
    assert synced == [(False, False), (True, True)]


def test_spill_files_are_beside_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "output").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    with spilling_beside(tmp_path / "output" / "model"):
        assert spill_folder() == str(tmp_path / "output")
        with spilling_beside("-"):
            assert spill_folder() == str(tmp_path / "output")
        with spill_file("test") as file:
            assert os.fstat(file.fileno()).st_dev == (tmp_path / "output").stat().st_dev
            assert not any(any(folder.iterdir()) for folder in tmp_path.iterdir()), "it has no name"
    with spilling_beside(os.devnull):
        assert spill_folder() == str(tmp_path / "temporary")


@pytest.mark.parametrize("exception", [ValueError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path: Path, exception: type[BaseException]) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"old")

    def interrupted() -> None:
        with write_atomically(file, force=True) as stream:
            stream.write(b"new")
            raise exception

    with pytest.raises(exception):
        interrupted()
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions_and_links_to_it(tmp_path: Path, mode: int) -> None:
    (tmp_path / "out").write_bytes(b"old")
    (tmp_path / "out").chmod(mode)
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with write_atomically(tmp_path / "link", force=True) as stream:
        (unfinished,) = set(tmp_path.iterdir()) - {tmp_path / "out", tmp_path / "link"}
        assert S_IMODE(unfinished.stat().st_mode) == mode
        stream.write(b"new")
    assert S_IMODE((tmp_path / "out").stat().st_mode) == mode
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out").read_bytes() == b"new"


def test_what_is_no_file_is_written_in_place(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb"):
        for path in (os.devnull, f"/dev/fd/{writer}", "-"):
            with write_atomically(path) as stream:
                stream.write(b"data\n")
    assert not Path(os.devnull).is_file()
    with os.fdopen(reader, "rb") as file:
        assert file.read() == capfdbinary.readouterr().out == b"data\n"
