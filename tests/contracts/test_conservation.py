"""Every reader gives each word of a file once, in its pair: pairs in are pairs out, whatever the words look like."""

import csv
import json
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from readings import refuses

from corpora.conversion import convert, write_text, write_texts
from corpora.files import pack
from corpora.formats.memories import FORBIDDEN
from corpora.formats.pharaoh import is_links
from corpora.readers import open_corpus, open_texts

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


def write_bytes(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def one(path: Path, text: str) -> list[Path]:
    path.write_text(text, "utf-8", newline="")
    return [path]


def json_lines(folder: Path, pairs: Pairs) -> list[Path]:
    return one(folder / "t.jsonl", "".join(json.dumps({"source": s, "target": t}) + "\n" for s, t in pairs))


def packed(folder: Path, pairs: Pairs) -> list[Path]:
    packers = zip(text_files(folder, pairs), (".gz", ".zst"), strict=True)
    return [write_bytes(folder / f"{path.name}{name}", pack(name, path.read_bytes())) for path, name in packers]


def zipped(folder: Path, pairs: Pairs) -> list[Path]:
    with ZipFile(folder / "t.zip", "w", ZIP_DEFLATED) as archive:
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
    pyarrow.parquet.write_table(
        pyarrow.table({"source": source, "target": target}), folder / "t.parquet", row_group_size=2
    )
    return [folder / "t.parquet"]


def tmx(folder: Path, pairs: Pairs) -> list[Path]:
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{escape(s)}<ph>x</ph></seg></tuv>'
        f'<tuv xml:lang="fr"><seg>{escape(t)}</seg></tuv></tu>'
        for s, t in pairs
    )
    return one(folder / "t.tmx", f'<tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>')


def xliff(folder: Path, pairs: Pairs) -> list[Path]:
    units = "".join(
        f'<trans-unit id="{n}"><seg-source><mrk mtype="seg" mid="0">{escape(s)}</mrk></seg-source>'
        f'<target><mrk mtype="seg" mid="0">{escape(t)}</mrk></target></trans-unit>'
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


def triples(folder: Path, pairs: Pairs) -> list[Path]:
    return one(folder / "t.com", "".join(f"{source}\n{target}\n0-0\n" for source, target in pairs))


def marked_up(folder: Path, pairs: Pairs) -> list[Path]:
    sides = enumerate(zip(*pairs, strict=True))
    names = {side: "".join(f"<s snum={n}> {text} </s>\n" for n, text in enumerate(of, 1)) for side, of in sides}
    return [path for side, text in names.items() for path in one(folder / f"t.{'ef'[side]}", text)]


READERS: dict[str, Callable[[Path, Pairs], list[Path]]] = {
    "two texts": text_files, "CRLF": lambda folder, pairs: text_files(folder, pairs, end="\r\n"),
    "BOM": lambda folder, pairs: text_files(folder, pairs, "utf-8-sig"),
    "UTF-16": lambda folder, pairs: text_files(folder, pairs, "utf-16"),
    "packed": packed, "zip": zipped, "bars": joined, "tabs": tabs, "JSON": json_lines,
    "CSV": comma, "CSV;": lambda folder, pairs: comma(folder, pairs, ";"), "XLSX": xlsx, "Parquet": parquet,
    "comtrans": triples, "marked up": marked_up,
    "TMX": tmx, "XLIFF": xliff, "FLEx": flex, "ELAN": elan, "Toolbox": toolbox, "CoNLL-U": conllu, "A3": giza,
}  # fmt: skip
"""By form, what writes pairs in it."""


LAW = settings(max_examples=15)


@pytest.mark.parametrize("form", READERS)
@LAW
@given(pairs=pair_lists, shards=st.integers(1, 5))
@example(pairs=[("a", "\u00a0")], shards=2)
def test_pairs_in_are_pairs_out(tmp_path_factory: pytest.TempPathFactory, form: str, pairs: Pairs, shards: int) -> None:
    """All at once, and in shards of equal size, one after the other."""
    doubtful = any if form == "comtrans" else all  # of three lines only what they hold tells the third
    assume(not any(doubtful(is_links(text.encode()) for text in side) for side in zip(*pairs, strict=True)))
    corpus = open_corpus(READERS[form](tmp_path_factory.mktemp("t"), pairs))
    texts = list(corpus.texts())
    assert [(source.decode(), target.decode()) for _, source, target in texts] == [*pairs]
    assert [number for number, *_ in texts] == sorted({number for number, *_ in texts})
    parts = [list(corpus.shard(number, shards).texts()) for number in range(1, shards + 1)]
    assert [text for part in parts for text in part] == texts
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


tokens = st.one_of(
    st.sampled_from([*ODD, "#", "<s", "({})", "\x01", "\x85", "\ufeff"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c"), min_size=1, max_size=5),
)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    """A pair of any words, as a line of jsonl has it."""
    source, target = (draw(st.lists(tokens, max_size=5)) for _ in range(2))
    cells = [[j, k] for j in range(len(source)) for k in range(len(target))]
    links = sorted(draw(st.lists(st.sampled_from(cells), unique_by=tuple))) if cells else []
    possible = sorted(draw(st.lists(st.sampled_from(links), unique_by=tuple))) if links else []
    return {"source": source, "target": target, "links": links} | ({"possible": possible} if possible else {})


SIDES = "source", "target"


def converted(source: Path, to: str, **options: Any) -> bytes:
    with BytesIO() as stream:
        convert(source, stream, to=to, **options)
        return stream.getvalue()


@pytest.mark.parametrize("to", ["giza", "comtrans", "jsonl", "tmx", "texts"])
@settings(max_examples=30)
@given(values=st.lists(objects(), min_size=1, max_size=4))
@example(values=[{"source": ["\ufeff"], "target": ["\ufeffa", "|"], "links": [[0, 1]]}])
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, to: str, values: list[dict[str, Any]]
) -> None:
    """Words and links, by way of each format that has both and is read, also turned; and words as two texts."""
    folder = tmp_path_factory.mktemp("t")
    lines = [" ".join(value["source"]).encode() for value in values]
    one(folder / "t.jsonl", "".join(f"{json.dumps(value)}\n" for value in values))
    if to == "texts":
        corpus = open_corpus(folder / "t.jsonl", columns=SIDES)
        with (
            (folder / "a").open("wb") as source,
            (folder / "b").open("wb") as target,
            (folder / "c").open("wb") as text,
        ):
            write_texts(corpus, corpus.texts(), source, target)
            write_text(lines, text)
        assert (folder / "a").read_bytes() == (folder / "c").read_bytes()
        assert list(open_texts(folder / "a", folder / "b").texts()) == list(corpus.texts())
        return
    has_none = {
        "giza": any("possible" in value for value in values),
        "tmx": any(FORBIDDEN.search("".join(value["source"] + value["target"])) for value in values),
    }
    if has_none.get(to):
        with refuses(r"t.jsonl:\d: .*, which (giza|tmx) cannot have \("):
            converted(folder / "t.jsonl", to)
        words = {side: [[FORBIDDEN.sub("x", of) for of in value[side]] for value in values] for side in SIDES}
        values = [
            {"source": source, "target": target, "links": value["links"]}
            for source, target, value in zip(words["source"], words["target"], values, strict=True)
        ]
        one(folder / "t.jsonl", "".join(f"{json.dumps(value)}\n" for value in values))
    (folder / "there").write_bytes(converted(folder / "t.jsonl", to))
    (folder / "turned").write_bytes(converted(folder / "there", to, from_=to, transpose=True))
    for name, turned in (("there", False), ("turned", True)):
        back = converted(folder / name, "jsonl", from_=to, transpose=turned).decode().split("\n")[:-1]
        found = [*map(json.loads, back)]
        assert {tuple(of.pop("languages", ())) for of in found} <= {(), ("x-source", "x-target")}
        assert found == values
