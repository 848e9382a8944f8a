"""Every reader gives each word of a file once, in its pair: pairs in are pairs out, whatever the words look like."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape
from zipfile import ZipFile

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from corpora.conversion import convert
from corpora.corpus import Corpus
from corpora.formats.pharaoh import is_links
from corpora.link_files import open_links
from corpora.readers import open_corpus

Pairs = Sequence[tuple[str, str]]

ODD = (
    "=1+1", "+1", "-x", "@a", "#", "|", "||", "'", '"', '""', "<b>", "&amp;", "]]>", "{", "[0,", "0-0",
    "_x000D_", "NULL", "({", "})", "1,5", ";", ",", "\u00a0", "\u2028", "\u200b", "e\u0301", "\U00020000", "a\ufeff",
    "x-links", "None", "TRUE", "0012", "1e5", "%", "<range>x", "##a", "@@", "</s>", "S", "0", "nan",
)  # fmt: skip
"""Words that mean something to one format or another."""

letters = st.characters(
    codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp", "Cs", "Cn"], exclude_characters="\ufeff"
)
words = st.one_of(st.sampled_from(ODD), st.text(letters, min_size=1, max_size=5))
sides = st.lists(words, min_size=1, max_size=5).map(" ".join)
pair_lists = st.lists(st.tuples(sides, sides), min_size=1, max_size=6)


def text_files(folder: Path, pairs: Pairs, encoding: str = "utf-8", end: str = "\n") -> list[Path]:
    paths = [folder / "t.en", folder / "t.fr"]
    for path, side in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_bytes("".join(f"{text}{end}" for text in side).encode(encoding))
    return paths


def joined(folder: Path, pairs: Pairs) -> list[Path]:
    return one(folder / "t.txt", "".join(f"{source} ||| {target}\n" for source, target in pairs))


def tabs(folder: Path, pairs: Pairs) -> list[Path]:
    return one(folder / "t.tsv", "".join(f"{source}\t{target}\n" for source, target in pairs))


def one(path: Path, text: str) -> list[Path]:
    path.write_text(text, "utf-8", newline="")
    return [path]


def json_lines(folder: Path, pairs: Pairs) -> list[Path]:
    return one(folder / "t.jsonl", "".join(json.dumps({"source": s, "target": t}) + "\n" for s, t in pairs))


def packed(folder: Path, pairs: Pairs) -> list[Path]:
    paths = text_files(folder, pairs)
    for path in paths:
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    return [folder / f"{path.name}.gz" for path in paths]


def zipped(folder: Path, pairs: Pairs) -> list[Path]:
    with ZipFile(folder / "t.zip", "w") as archive:
        for path in text_files(folder, pairs):
            archive.write(path, path.name)
    return [folder / "t.zip"]


def comma(folder: Path, pairs: Pairs, delimiter: str = ",") -> list[Path]:
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([("source", "target"), *pairs])
    return [folder / "t.csv"]


def xlsx(folder: Path, pairs: Pairs) -> list[Path]:
    book = openpyxl.Workbook()
    for row, pair in enumerate([("source", "target"), *pairs], 1):
        for column, text in enumerate(pair, 1):
            cell = book.active.cell(row, column)
            cell.value, cell.data_type = text.replace("_x", "_x005F_x"), "s"  # as the standard has it
    book.save(folder / "t.xlsx")
    return [folder / "t.xlsx"]


def parquet(folder: Path, pairs: Pairs) -> list[Path]:
    source, target = zip(*pairs, strict=True)
    pyarrow.parquet.write_table(pyarrow.table({"source": source, "target": target}), folder / "t.parquet")
    return [folder / "t.parquet"]


def tmx(folder: Path, pairs: Pairs) -> list[Path]:
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{escape(s)}</seg></tuv><tuv xml:lang="fr"><seg>{escape(t)}</seg></tuv></tu>'
        for s, t in pairs
    )
    return one(folder / "t.tmx", f'<tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>')


def xliff(folder: Path, pairs: Pairs) -> list[Path]:
    units = "".join(
        f'<trans-unit id="{n}"><source>{escape(s)}</source><target>{escape(t)}</target></trans-unit>'
        for n, (s, t) in enumerate(pairs)
    )
    head = '<xliff version="1.2"><file source-language="en" target-language="fr"><body>'
    return one(folder / "t.xlf", f"{head}{units}</body></file></xliff>")


def flex(folder: Path, pairs: Pairs) -> list[Path]:
    phrases = "".join(
        "<phrase><words>"
        + "".join(f'<word><item type="txt" lang="seh">{escape(word)}</item></word>' for word in s.split(" "))
        + f'</words><item type="gls" lang="en">{escape(t)}</item></phrase>'
        for s, t in pairs
    )
    return one(folder / "t.flextext", f"<document><interlinear-text>{phrases}</interlinear-text></document>")


def elan(folder: Path, pairs: Pairs) -> list[Path]:
    def annotation(inner: str) -> str:
        return f"<ANNOTATION>{inner}</ANNOTATION>"

    slots = "".join(f'<TIME_SLOT TIME_SLOT_ID="t{n}" TIME_VALUE="{n * 100}"/>' for n in range(len(pairs) + 1))
    texts = "".join(
        annotation(
            f'<ALIGNABLE_ANNOTATION ANNOTATION_ID="a{n}" TIME_SLOT_REF1="t{n}" TIME_SLOT_REF2="t{n + 1}">'
            f"<ANNOTATION_VALUE>{escape(s)}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION>"
        )
        for n, (s, _) in enumerate(pairs)
    )
    translations = "".join(
        annotation(
            f'<REF_ANNOTATION ANNOTATION_ID="f{n}" ANNOTATION_REF="a{n}"><ANNOTATION_VALUE>{escape(t)}'
            "</ANNOTATION_VALUE></REF_ANNOTATION>"
        )
        for n, (_, t) in enumerate(pairs)
    )
    return one(
        folder / "t.eaf",
        f'<ANNOTATION_DOCUMENT><TIME_ORDER>{slots}</TIME_ORDER><TIER TIER_ID="tx">{texts}</TIER>'
        f'<TIER TIER_ID="ft" PARENT_REF="tx">{translations}</TIER></ANNOTATION_DOCUMENT>',
    )


def toolbox(folder: Path, pairs: Pairs) -> list[Path]:
    records = "".join(f"\\ref {n}\n\\tx {s}\n\\ft {t}\n\n" for n, (s, t) in enumerate(pairs))
    return one(folder / "t.db", f"\\_sh v3.0  400  Text\n\n{records}")


def conllu(folder: Path, pairs: Pairs) -> list[Path]:
    def sentences(side: int) -> str:
        return "".join(
            "".join(f"{n}\t{word}{chr(9).join([''] + ['_'] * 8)}\n" for n, word in enumerate(pair[side].split(" "), 1))
            + "\n"
            for pair in pairs
        )

    return [*one(folder / "t.en.conllu", sentences(0)), *one(folder / "t.fr.conllu", sentences(1))]


def giza(folder: Path, pairs: Pairs) -> list[Path]:
    return one(
        folder / "t.A3.final",
        "".join(
            f"# Sentence pair ({n}) source length {len(s.split(' '))} target length {len(t.split(' '))}"
            f" alignment score : 0.1\n{t}\nNULL ({{ }}) {' '.join(f'{word} ({{ }})' for word in s.split(' '))}\n"
            for n, (s, t) in enumerate(pairs, 1)
        ),
    )


READERS: dict[str, Callable[[Path, Pairs], list[Path]]] = {
    "two texts": text_files, "CRLF": lambda folder, pairs: text_files(folder, pairs, end="\r\n"),
    "BOM": lambda folder, pairs: text_files(folder, pairs, "utf-8-sig"),
    "UTF-16": lambda folder, pairs: text_files(folder, pairs, "utf-16"),
    "packed": packed, "zip": zipped, "bars": joined, "tabs": tabs, "JSON": json_lines,
    "CSV": comma, "CSV;": lambda folder, pairs: comma(folder, pairs, ";"), "XLSX": xlsx, "Parquet": parquet,
    "TMX": tmx, "XLIFF": xliff, "FLEx": flex, "ELAN": elan, "Toolbox": toolbox, "CoNLL-U": conllu, "A3": giza,
}  # fmt: skip
"""By form, what writes pairs in it."""


LAW = settings(deadline=None, max_examples=30)


@pytest.mark.parametrize("form", READERS)
@LAW
@given(pairs=pair_lists)
@example(pairs=[("a", "\u00a0")])
def test_pairs_in_are_pairs_out(tmp_path_factory: pytest.TempPathFactory, form: str, pairs: Pairs) -> None:
    assume(not any(all(is_links(text.encode()) for text in side) for side in zip(*pairs, strict=True)))
    corpus = open_corpus(READERS[form](tmp_path_factory.mktemp("t"), pairs))
    assert texts_of(corpus) == [*pairs]


def texts_of(corpus: Corpus) -> list[tuple[str, str]]:
    return [(source.decode(), target.decode()) for _, source, target in corpus.texts()]


@pytest.mark.parametrize("to", ["giza", "comtrans", "jsonl", "tmx"])
@LAW
@given(pairs=pair_lists, data=st.data())
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, to: str, pairs: Pairs, data: st.DataObject
) -> None:
    """Words and links, by way of each format that has both and is read."""
    folder = tmp_path_factory.mktemp("t")
    text_files(folder, [(f"a {source}", f"b {target}") for source, target in pairs])
    links = [
        data.draw(st.sets(st.tuples(st.integers(0, len(s.split(" "))), st.integers(0, len(t.split(" "))))))
        for s, t in pairs
    ]
    links[0].add((0, 0))
    (folder / "t.wa").write_text("".join(" ".join(f"{j}-{k}" for j, k in sorted(one)) + "\n" for one in links))
    given_corpus = open_corpus(folder / "t")
    path = folder / ("w.A3.final" if to == "giza" else f"w.{to}")
    with path.open("wb") as file:
        convert(folder / "t.wa", file, to=to, text=folder / "t")
    columns = ("source", "target") if to == "jsonl" else None
    assert texts_of(open_corpus(path, columns=columns)) == texts_of(given_corpus)
    assert [set(one.sure) for one in open_links(path)] == links
