"""What a command reads from a pipe or standard input gives what it gives from a file, or is refused in one line."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Thread

import pytest
from commands import COMMANDS, invoke, run, write

from aligner.model.file import is_model, read_model

LINES = {
    "align": ["joined", "t.en t.fr", "t.en t.fr -m a.model", "t.en t.fr --links t.wa",
              "t.en t.fr --priors a.priors", "joined --sample 30", "joined --sample 30 --links neural=t.wa",
              "joined --links neural=t.wa", "joined --remap t", "joined --sample 30 --format jsonl",
              "joined --sample 30 --remap t --links neural=t.wa", "joined -m a.model", "joined -m a.model --remap t"],
    "train": ["joined --gold g --set cross_validate=0 -m OUT", "joined --priors a.priors -m OUT",
              "t --links t.wa --gold g -m OUT"],
    "evaluate": ["t.wa l.wa --format json", "t.wa l.wa l.scored --format json"],
    "show": ["t.en t.fr l.wa", "t.en t.fr l.wa --gold t.wa"],
    "report": ["t.en t.fr l.wa --gold t.wa --format csv"],
    "info": ["a.model --format json"],
    "calibrate": ["a.model other -o OUT"],
    "score": ["t.en t.fr l.wa -m a.model", "joined --format worst"],
    "terms": ["joined", "t.en t.fr t.wa", "t.en t.fr -m a.model", "joined --check glossary"],
    "project": ["labels t.fr t.wa"],
    "atools": ["-i t.wa -c invert", "-i t.wa -j l.wa -c union"],
    "lexicon": ["t.en t.fr l.wa -o OUT", "a.model -o OUT"],
    "convert": ["t.wa - --to talp", "l.scored - --to naacl", "t.wa - --to comtrans --text joined",
                "t.wa - --to talp --text joined", "t.wa - --to csv --text t", "joined OUT.a OUT.b"],
    "symmetrize": ["t.wa l.wa"],
    "combine": ["t.wa l.wa", "t.wa l.scored", "t.wa l.wa --text joined"],
    "priors": ["a.model"],
    "fast-align": ["-i joined"],
}  # fmt: skip
"""Command lines; the words that name files are given as pipes, one at a time."""

WITHOUT_FILES = {"serve", "annotate", "warm-up"}
"""Commands that other tests start, or that read nothing."""

FILES = "t.en", "t.fr", "t.wa", "l.wa", "l.scored", "joined", "a.priors", "a.model", "glossary", "labels"

CASES = [
    (f"{command} {line}", place)
    for command, lines in LINES.items()
    for line in lines
    for place, word in enumerate(f"{command} {line}".split())
    if word in FILES
]


@pytest.fixture(scope="module")
def folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pipes")
    for side in ("en", "fr"):
        for name in ("t", "g"):
            shutil.copy(sample / f"test.{side}", folder / f"{name}.{side}")
    for name in ("t", "g"):
        shutil.copy(sample / "test.wa", folder / f"{name}.wa")
    for side in ("en", "fr", "wa"):
        write(folder / f"other.{side}", *(sample / f"train.{side}").read_text("utf-8").splitlines()[:60])
    run("train", folder / "t", "-m", folder / "a.model", "--set", "cross_validate=0", "-q")
    text = folder / "t.en", folder / "t.fr"
    sides = [path.read_text("utf-8").splitlines() for path in text]
    write(folder / "joined", *map(" ||| ".join, zip(*sides, strict=True)))
    for form, name in (("pharaoh", "l.wa"), ("scored", "l.scored")):
        run("align", *text, "--format", form, "-o", folder / name, "-q")
    run("priors", folder / "a.model", "-o", folder / "a.priors", "-q")
    write(folder / "glossary", "house\tchâteau")
    shutil.copy(sample / "entities.en.conll", folder / "labels")
    return folder


@contextmanager
def piped(content: bytes, name: str) -> Iterator[str]:
    """The path of a pipe of this name that the content comes from, however much of it is read."""
    reading, writing = os.pipe()

    def fill() -> None:
        with suppress(BrokenPipeError), os.fdopen(writing, "wb") as stream:
            stream.write(content)

    filling, path = Thread(target=fill), Path("pipe") / name
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(f"/dev/fd/{reading}")
    filling.start()
    try:
        yield str(path)
    finally:
        path.unlink()
        os.close(reading)
        filling.join()


def content(path: Path) -> bytes:
    """What was written; of a model its arrays, as it says when it was made."""
    if not is_model(path):
        return path.read_bytes()
    return b"".join(array.tobytes() for array in read_model(path)[1].values())


@cache  # the command with files is the same for all its words
def outcome(*words: str, stdin: bytes = b"") -> tuple[int, str, dict[str, bytes], str]:
    """Exit code, standard output, what was written, and the messages."""
    result = invoke(*words, stdin=stdin)
    written = {path.name: content(path) for path in Path().glob("OUT*")}
    for path in written:
        Path(path).unlink()
    return result.exit_code, result.stdout, written, result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no names here")
@pytest.mark.parametrize("kind", ["pipe", "stdin"])
@pytest.mark.parametrize(("line", "place"), CASES)
def test_a_pipe_gives_what_a_file_gives(
    folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, place: int, kind: str
) -> None:
    monkeypatch.chdir(folder)
    quiet = {option for parameter in COMMANDS[line.split()[0]].params for option in parameter.opts} & {"--quiet"}
    words = [*line.split(), *quiet]
    word, given = words[place], (folder / words[place]).read_bytes()
    code, printed, written, messages = outcome(*words)
    assert code == 0, messages
    with piped(given, word) as name:
        words[place] = name if kind == "pipe" else "-"
        found = outcome(*words, stdin=given if kind == "stdin" else b"")
    if found[0] == 0:
        shown = "-" if kind == "stdin" else word
        assert found[1].replace(f"pipe/{word}", word) == printed.replace(word, shown)
        assert found[2] == written
    else:
        assert found[0] in (1, 2)
        assert not found[1]
        assert not found[2]
        assert found[0] == 2 or word == "a.model" or "as no pipe can be" in found[3]
        assert found[0] == 2 or re.fullmatch(r".+: .+ \(.+\)\n", found[3])


def test_every_command_is_tried() -> None:
    assert LINES.keys() | WITHOUT_FILES == COMMANDS.keys()
