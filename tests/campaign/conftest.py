"""Well-formed files of every kind, to be changed."""

import csv
import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest
from commands import run

from corpora.files import read_lines

collect_ignore = ["warm.py"]  # looking there for doctests would train
LINES = 8

TMX = (
    "<?xml version='1.0' encoding='UTF-8'?>\n<tmx version='1.4'><body>\n{}</body></tmx>\n",
    "<tu><tuv xml:lang='en'><seg>{}<ph>x</ph></seg></tuv>\n<tuv xml:lang='fr'><seg>{}</seg></tuv></tu>\n",
)
XLIFF = (
    "<xliff version='1.2'><file source-language='en' target-language='fr'><body>\n{}</body></file></xliff>\n",
    "<trans-unit><seg-source><mrk mtype='seg' mid='0'>{}</mrk></seg-source>\n"
    "<target><mrk mtype='seg' mid='0'>{}</mrk></target></trans-unit>\n",
)
FLEX = (
    "<document version='2'><interlinear-text><paragraphs><paragraph><phrases>\n{}</phrases></paragraph></paragraphs>"
    "</interlinear-text></document>\n",
    "<phrase><words><word><item type='txt' lang='en'>{}</item></word></words>\n"
    "<item type='gls' lang='fr'>{}</item></phrase>\n",
)
ELAN = (
    "<ANNOTATION_DOCUMENT>\n<TIME_ORDER><TIME_SLOT TIME_SLOT_ID='s' TIME_VALUE='1'/><TIME_SLOT TIME_SLOT_ID='t'/>"
    "<TIME_SLOT TIME_SLOT_ID='u' TIME_VALUE='2'/></TIME_ORDER>\n{}</ANNOTATION_DOCUMENT>\n",
    "<TIER TIER_ID='tx'><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID='a' TIME_SLOT_REF1='s' TIME_SLOT_REF2='u'>"
    "<ANNOTATION_VALUE>{}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>\n<TIER TIER_ID='ft' "
    "PARENT_REF='tx'><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID='b' TIME_SLOT_REF1='s' TIME_SLOT_REF2='t'/>"
    "</ANNOTATION>\n<ANNOTATION><REF_ANNOTATION ANNOTATION_ID='c' ANNOTATION_REF='b'><ANNOTATION_VALUE>{}"
    "</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER>\n",
)
TOOLBOX = "{}", "\\ref 1\n\\tx {}\n\\ft {}\n"
"""The whole of a file, and a unit of it."""


@pytest.fixture(scope="session")
def seeds(sample: Path, priors: Path, once: Callable[..., Path]) -> dict[str, bytes]:
    """The content of a small file of each kind, by its name."""

    def make(folder: Path) -> None:
        for side in ("en", "fr"):
            lines = islice(read_lines(sample / f"test.{side}"), LINES)
            (folder / f"text.{side}").write_bytes(b"".join(line + b"\n" for line in lines))
        sides = [(folder / f"text.{side}").read_text().splitlines() for side in ("en", "fr")]
        pairs = list(zip(*sides, strict=True))
        (folder / "joint").write_text("".join(f"{source} ||| {target}\n" for source, target in pairs))
        (folder / "tabs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
        forms = {"a.tmx": TMX, "a.xlf": XLIFF, "a.flextext": FLEX, "a.eaf": ELAN, "a.toolbox": TOOLBOX}
        for name, texts in forms.items():
            units = "".join(texts[1].format(escape(source), escape(target)) for source, target in pairs)
            (folder / name).write_text(texts[0].format(units))
        book, named = openpyxl.Workbook(), [("source", "target"), *pairs]
        list(map(book.active.append, named))
        book.save(folder / "a.xlsx")
        with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(named)
        with ZipFile(folder / "a.zip", "w", ZIP_DEFLATED) as archive:
            for side in ("en", "fr"):
                archive.write(folder / f"text.{side}", f"text.{side}")
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
            run("convert", folder / "links.pharaoh", out, "--to", form, "--text", folder / "joint", "-q")
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
