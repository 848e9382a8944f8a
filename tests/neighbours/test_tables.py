"""Tables between us and LibreOffice, openpyxl, python-calamine and Hugging Face's datasets."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from neighbours.environments import ODD, TIMEOUT, environment, unavailable

from corpora.errors import CorpusError
from corpora.formats.jsonl import write_jsonl
from corpora.formats.sheets import write_rows
from corpora.links import PairLinks
from corpora.readers import open_corpus

pytestmark = pytest.mark.nightly

OPENPYXL, CALAMINE, DATASETS = "openpyxl==3.1.5", "python-calamine==0.9.1", "datasets==5.2.0"
LIBREOFFICE = "LibreOffice 7.4"
CASES = 1000
UTF_8, UTF_16 = "76", "65535"
"""LibreOffice's numbers of encodings."""

Texts = list[tuple[str, str]]

LIKE_NUMBERS = {"1:2", "10.000", "1e5", "007", "1/2", "50%", "TRUE", "½"}
"""Tokens that are taken for numbers, times or dates where they are a cell of CSV."""


WORDS = [*(word for word in ODD if word != "''"), "_x0041_", "_x000D_"]


def draw(seed: int, words: Sequence[str] = WORDS) -> Texts:
    """Pairs of texts, of which every third is a token alone."""
    rng = random.Random(seed)
    return [
        (" ".join(rng.choices(words, k=rng.choice([1, 3, 8]))), " ".join(rng.choices(words, k=rng.choice([1, 3, 8]))))
        for _ in range(CASES)
    ]


def write(path: Path, texts: Texts) -> Path:
    with path.open("wb") as file:
        write_rows(file, path.suffix[1:], ("source", "target"), texts)
    return path


def read(path: Path) -> Texts:
    corpus = open_corpus(path, columns=("source", "target"))
    return [(source.decode(), target.decode()) for _, source, target in corpus.texts()]


@pytest.fixture(scope="module")
def libreoffice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the settings of its user."""
    if shutil.which("soffice") is None:
        unavailable("there is no soffice (apt-get install libreoffice-calc)")
    return tmp_path_factory.mktemp("office")


def converted(office: Path, path: Path, kind: str, encoding: str = UTF_8, named: bool = True) -> Path:
    """What LibreOffice makes of a table.  kind: the suffix of the new one.  encoding: of CSV, if it is told."""
    options = f"44,34,{encoding}"
    to = {"csv": f"csv:Text - txt - csv (StarCalc):{options}", "xlsx": "xlsx:Calc MS Excel 2007 XML"}.get(kind, kind)
    command = ["soffice", f"-env:UserInstallation={(office / 'user').as_uri()}", "--headless"]
    command += [f"--infilter=CSV:{options}"] if path.suffix == ".csv" and named else []
    command += ["--convert-to", to, "--outdir", str(office / "out"), str(path)]
    done = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, capture_output=True, timeout=TIMEOUT)
    made = office / "out" / f"{path.stem}.{kind}"
    assert made.exists(), done.stderr.decode()
    return made


BY_PYTHON = """
import json, sys, tempfile
import openpyxl
from python_calamine import CalamineWorkbook
path, texts = json.load(sys.stdin)
calamine = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python(skip_empty_area=False)
rows = [[*map(list, openpyxl.load_workbook(path, read_only=how).active.values)] for how in (True, False)]
book = openpyxl.Workbook()
for row in [("source", "target"), *texts]:
    book.active.append(row)
    for cell in book.active[book.active.max_row]:
        cell.data_type = "s"  # else = begins a formula
book.save(path)
print(json.dumps([calamine, *rows]))
"""


def test_escapes_in_workbooks(tmp_path: Path) -> None:
    """A text that looks like an escape, _x0041_, is escaped in XLSX, which openpyxl leaves so."""
    texts = draw(1)
    path = write(tmp_path / "t.xlsx", texts)
    calamine, *rows = environment("tables", OPENPYXL, CALAMINE).ask(BY_PYTHON, [str(path), texts])
    assert [tuple(row) for row in calamine] == [("source", "target"), *texts]
    for each in rows:
        assert [tuple(cell.replace("_x005F_", "_") for cell in row) for row in each[1:]] == texts
        assert any("_x005F_x0041_" in cell for row in each for cell in row)
    unescaped = [
        [re.sub("_x00(41|0D)_", lambda code: code[1].replace("41", "A").replace("0D", " "), text) for text in pair]
        for pair in texts
    ]
    assert read(path) == [tuple(" ".join(text.split()) for text in pair) for pair in unescaped]  # written by openpyxl


def test_workbooks_in_libreoffice(libreoffice: Path, tmp_path: Path) -> None:
    """And what it makes of them is read: CSV of two encodings, and ODS."""
    texts = draw(2)
    path = write(tmp_path / "t.xlsx", texts)
    for kind, encoding in (("csv", UTF_8), ("csv", UTF_16), ("ods", UTF_8)):
        assert read(converted(libreoffice, path, kind, encoding)) == texts, (kind, encoding)


def test_csv_in_libreoffice(libreoffice: Path, tmp_path: Path) -> None:
    """But not those of more words; two apostrophes stay before what it would run, and go where CSV is read again."""
    texts = draw(3)
    path = write(tmp_path / "t.csv", texts)
    found = read(converted(libreoffice, path, "xlsx"))
    again = read(converted(libreoffice, path, "csv"))
    numbers = 0
    for row, cells, second in zip(texts, found, again, strict=True):
        for text, cell, back in zip(row, cells, second, strict=True):
            if text in LIKE_NUMBERS:
                numbers += cell != text
            else:
                assert cell.removeprefix("''") == back == text
                assert cell == text or text.startswith(("=", "+", "-", "@")), text
    assert numbers > 10
    with pytest.raises(CorpusError, match="has no column 'source', but ï»¿source"):
        read(converted(libreoffice, path, "xlsx", named=False))


def test_datasets(tmp_path: Path) -> None:
    rng, texts = random.Random(4), draw(4, ODD)
    pairs = []
    for source, target in texts:
        sides = source.split(), target.split()
        links = {(rng.randrange(len(sides[0])), rng.randrange(len(sides[1]))) for _ in range(rng.randint(0, 4))}
        scores = {link: round(rng.random(), 4) for link in links}
        pairs.append((*sides, PairLinks(frozenset(links), scores=scores)))
    with (tmp_path / "l.jsonl").open("wb") as file:
        write_jsonl(file, pairs, ("en", "fr"))
    script = """
import json, os, sys
os.environ["HF_DATASETS_OFFLINE"] = "1"
import datasets
datasets.disable_progress_bars()
folder = json.load(sys.stdin)
read = datasets.load_dataset("json", data_files=f"{folder}/l.jsonl", split="train", cache_dir=f"{folder}/cache")
made = read.map(lambda row: {"translation": {"en": " ".join(row["source"]), "fr": " ".join(row["target"])}})
made.select_columns(["translation"]).to_parquet(f"{folder}/t.parquet")
made.select_columns(["translation"]).to_json(f"{folder}/t.jsonl", force_ascii=False)
print(json.dumps([[row["source"], row["target"], row["links"], row["languages"]] for row in read]))
"""
    found = environment("datasets", DATASETS).ask(script, str(tmp_path))
    for (source, target, links), row in zip(pairs, found, strict=True):
        expected = [[*link, links.scores[link]] for link in sorted(links.sure)]
        assert row == [source, target, expected, ["en", "fr"]]
    for name in ("t.parquet", "t.jsonl"):
        corpus = open_corpus(tmp_path / name, columns=("translation.en", "translation.fr"))
        assert [(source.decode(), target.decode()) for _, source, target in corpus.texts()] == texts
