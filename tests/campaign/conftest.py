"""Well-formed files of every kind, to be changed."""

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from commands import run
from contracts.test_conservation import comma, elan, flex, joined, tabs, tmx, toolbox, xliff, xlsx, zipped

from corpora.files import read_lines

collect_ignore = ["warm.py"]  # looking there for doctests would train
LINES = 8


@pytest.fixture(scope="session")
def seeds(sample: Path, priors: Path, once: Callable[..., Path]) -> dict[str, bytes]:
    """The content of a small file of each kind, by its name."""

    def make(folder: Path) -> None:
        for side in ("en", "fr"):
            lines = islice(read_lines(sample / f"test.{side}"), LINES)
            (folder / f"text.{side}").write_bytes(b"".join(line + b"\n" for line in lines))
        sides = [(folder / f"text.{side}").read_text().splitlines() for side in ("en", "fr")]
        pairs = list(zip(*sides, strict=True))
        for write in (joined, tabs, tmx, xliff, flex, elan, toolbox, xlsx, comma, zipped):
            write(folder, pairs)
        (folder / "labels").write_bytes((sample / "entities.en.conll").read_bytes()[:1500])
        (folder / "wide.en").write_text((folder / "text.en").read_text(), "utf-16")
        rows = [json.dumps({"source": source, "target": target.split()}) + "\n" for source, target in pairs]
        (folder / "text.jsonl").write_text("".join(rows))
        files = folder / "text.en", folder / "text.fr"
        for form in ("pharaoh", "scored", "jsonl", "tsv"):
            run("align", *files, "--format", form, "-o", folder / f"links.{form}", "-q")
        for form in ("talp", "naacl"):
            run("convert", folder / "links.pharaoh", folder / f"links.{form}", "--to", form, "-q")
        for form in ("giza", "comtrans"):
            out = folder / f"links.{form}"
            run("convert", folder / "links.pharaoh", out, "--to", form, "--text", folder / "t.txt", "-q")
        (folder / "journal").write_text('{"text":1,"pairs":9}\n{"start":0,"end":10,"crc32":5,"counts":[1,2,3,4]}\n')
        for path in priors.iterdir():
            (folder / path.name).write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:40]) + b"\n")

    folder = once("campaign-seeds", make)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="session")
def model(sample: Path, once: Callable[..., Path]) -> Path:
    """A model of the sample's test text."""

    def train(folder: Path) -> None:
        run("train", sample / "test", "-m", folder / "a.model", "--set", "cross_validate=0", "-q")

    return once("campaign-model", train) / "a.model"
