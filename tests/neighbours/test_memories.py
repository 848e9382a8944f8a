"""Translation memories, XLIFF and termbases between us and translate-toolkit, hypomnema and npm's xliff."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from memories import pairs as read_pairs
from neighbours.environments import ODD, Neighbour, environment, node_environment

from corpora.formats.memories import write_tmx
from corpora.formats.tbx import read_tbx, write_tbx
from corpora.links import PairLinks

pytestmark = pytest.mark.nightly

TRANSLATE_TOOLKIT, HYPOMNEMA, XLIFF = "translate-toolkit==3.20.4", "hypomnema==0.4.3", "xliff@6.4.0"
CASES = 1000

Texts = list[tuple[str, str]]


def draw(seed: int) -> Texts:
    rng = random.Random(seed)
    return [(" ".join(rng.choices(ODD, k=rng.randint(1, 8))), " ".join(rng.choices(ODD, k=rng.randint(1, 8))))
            for _ in range(CASES)]  # fmt: skip


def tmx_of(texts: Texts, *links: tuple[int, int]) -> str:
    written, pair = io.BytesIO(), PairLinks(frozenset(links))
    write_tmx(written, ((source.split(), target.split(), pair) for source, target in texts), ("en", "fr"))
    return written.getvalue().decode()


TMX_BY_TOOLKIT = """
import io, json, sys
from translate.storage.tmx import tmxfile
text, texts = json.load(sys.stdin)
units = tmxfile(io.BytesIO(text.encode()), "en", "fr").units
made = tmxfile(sourcelanguage="en")
for source, target in texts:
    made.addtranslation(source, "en", target, "fr")
print(json.dumps([[(unit.source, unit.target) for unit in units], bytes(made).decode()]))
"""

TMX_BY_HYPOMNEMA = """
import json, sys
import xml.etree.ElementTree as ET
import hypomnema as hm
text, texts = json.load(sys.stdin)
backend = hm.StandardBackend()
tmx = hm.Deserializer(backend=backend).deserialize(ET.fromstring(text))
read = [["".join(tuv.content) for tuv in tu.variants] for tu in tmx.body]
variants = lambda pair: [hm.Tuv(lang=lang, content=[text]) for lang, text in zip(("en", "fr"), pair)]
header = hm.Header(creationtool="a", creationtoolversion="1", segtype=hm.Segtype.SENTENCE, o_tmf="a", adminlang="en",
    srclang="en", datatype="plaintext")
made = hm.Tmx(version="1.4", header=header, body=[hm.Tu(variants=variants(pair)) for pair in texts])
print(json.dumps([read, ET.tostring(hm.Serializer(backend=backend).serialize(made), "unicode")]))
"""


def test_memories_are_read_by_translate_toolkit_as_written_and_written_as_read(tmp_path: Path) -> None:
    judge_memory(tmp_path, environment("translate-toolkit", TRANSLATE_TOOLKIT), TMX_BY_TOOLKIT)


def test_hypomnema_refuses_units_without_links_unless_it_is_told(tmp_path: Path) -> None:
    """Their property is empty, which TMX allows. All else is read as written, and written as read."""
    there = environment("hypomnema", HYPOMNEMA, python="3.12")
    judge_memory(tmp_path, there, TMX_BY_HYPOMNEMA)
    with pytest.raises(AssertionError, match="<prop> does not have any text content"):
        there.ask(TMX_BY_HYPOMNEMA, [tmx_of([("a", "b")]), []])


def judge_memory(folder: Path, there: Neighbour, script: str) -> None:
    texts = draw(1)
    read, written = there.ask(script, [tmx_of(texts, (0, 0)), texts])
    assert [tuple(pair) for pair in read] == texts
    (folder / "m.tmx").write_text(written, "utf-8")
    assert read_pairs(folder / "m.tmx", "en,fr") == texts


XLIFF_BY_TOOLKIT = """
import json, sys
from translate.storage.xliff import xlifffile
made = xlifffile()
made.setsourcelanguage("en"); made.settargetlanguage("fr")
for source, target in json.load(sys.stdin):
    unit = made.addsourceunit(source)
    unit.target = target
print(json.dumps(bytes(made).decode()))
"""
XLIFF_BY_NODE = """
const fs = require("fs"), { js2xliff, jsToXliff12 } = require("xliff");
const texts = JSON.parse(fs.readFileSync(0, "utf8"));
const units = Object.fromEntries(texts.map(([source, target], n) => ["u" + n, { source, target }]));
const made = { resources: { file: units }, sourceLanguage: "en", targetLanguage: "fr" };
(async () => console.log(JSON.stringify([await js2xliff(made), await jsToXliff12(made)])))();
"""


def test_xliff_of_translate_toolkit_is_read(tmp_path: Path) -> None:
    texts = draw(2)
    written = environment("translate-toolkit", TRANSLATE_TOOLKIT).ask(XLIFF_BY_TOOLKIT, texts)
    (tmp_path / "m.xlf").write_text(written, "utf-8")
    assert read_pairs(tmp_path / "m.xlf", "en,fr") == texts


def test_npms_xliff_writes_the_letters_of_an_entity_as_what_it_stands_for(tmp_path: Path) -> None:
    """A text that says &amp; is the text & afterwards, in XLIFF 2 and 1.2; all others are read as written."""
    texts = [*draw(2), ("a &amp; b", "c &lt; d")]
    changed = [[text.replace("&amp;", "&") for text in pair] for pair in texts]
    assert changed != texts
    for written in node_environment("xliff", XLIFF).ask(XLIFF_BY_NODE, texts, node=True):
        (tmp_path / "m.xlf").write_text(written, "utf-8")
        assert [*map(list, read_pairs(tmp_path / "m.xlf", "en,fr"))] == changed


TBX_BY_TOOLKIT = """
import io, json, sys
from translate.storage.tbx import tbxfile
text, texts = json.load(sys.stdin)
read = [(unit.source, unit.target) for unit in tbxfile(io.BytesIO(text.encode())).units]
made = tbxfile()
for source, target in texts:
    unit = made.addsourceunit(source)
    unit.target = target
print(json.dumps([read, bytes(made).decode()]))
"""


def test_termbases_are_read_by_either(tmp_path: Path) -> None:
    texts, written = draw(3), io.BytesIO()
    write_tbx(written, "test", "en", [[("en", [source]), ("fr", [target])] for source, target in texts])
    read, made = environment("translate-toolkit", TRANSLATE_TOOLKIT).ask(
        TBX_BY_TOOLKIT, [written.getvalue().decode(), texts]
    )
    assert [tuple(pair) for pair in read] == texts
    (tmp_path / "t.tbx").write_text(made, "utf-8")
    assert [tuple(terms[0] for terms in concept.values()) for concept in read_tbx(tmp_path / "t.tbx")] == texts
