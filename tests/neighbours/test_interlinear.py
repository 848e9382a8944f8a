"""ELAN between us, pympi and poio-api, and a FLEx text that goes through ELAN and back."""

from __future__ import annotations

import random
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from neighbours.environments import ODD, environment

from corpora.readers import open_corpus

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore:.*:corpora.left_out.LeftOut")]

PYMPI, POIO, GRAF = "pympi-ling==1.71", "poio-api==0.3.6", "graf-python==0.3.1"
CASES = 1000

BY_PYMPI = """
import json, sys
import pympi
path, speakers = json.load(sys.stdin)
eaf = pympi.Elan.Eaf()
eaf.remove_tier("default")
eaf.add_linguistic_type("text")
eaf.add_linguistic_type("translation", constraints="Symbolic_Association", timealignable=False)
for name, phrases in speakers.items():
    eaf.add_tier(f"tx@{name}", "text")
    eaf.add_tier(f"ft@{name}", "translation", parent=f"tx@{name}")
    for begin, end, text, translation in phrases:
        eaf.add_annotation(f"tx@{name}", begin, end, text)
        if translation is not None:
            eaf.add_ref_annotation(f"ft@{name}", f"tx@{name}", (begin + end) // 2, translation)
eaf.to_file(path)
read = pympi.Elan.Eaf(path)
print(json.dumps({name: [sorted(read.get_annotation_data_for_tier(f"tx@{name}")),
    sorted(read.get_ref_annotation_data_for_tier(f"ft@{name}"))] for name in speakers}))
"""

BY_POIO = """
import json, sys
import poioapi.io.elan, poioapi.io.graf
converter = poioapi.io.graf.GrAFConverter(poioapi.io.elan.Parser(json.load(sys.stdin)))
converter.parse()
texts = {}
for node in converter.graf.nodes:
    for one in node.annotations:
        texts.setdefault(node.id.split("..")[1], []).append(one.features.get_value("annotation_value"))
print(json.dumps(texts))
"""

Phrase = tuple[int, int, str, str | None]


def draw(seed: int, speakers: int) -> dict[str, list[Phrase]]:
    """Phrases of each speaker with their times, one after the other, and of most a translation."""
    rng, found = random.Random(seed), dict[str, list[Phrase]]()
    for speaker in range(speakers):
        time, phrases = 0, list[Phrase]()
        for _ in range(CASES // speakers):
            begin = time + rng.choice([0, 0, 7, 500])
            time = begin + rng.randint(2, 3000)
            text, translation = (" ".join(rng.choices(ODD, k=rng.randint(1, 6))) for _ in "tf")
            phrases.append((begin, time, text, translation if rng.random() < 0.9 else None))
        rng.shuffle(phrases)  # as annotators work
        found[f"S{speaker}"] = phrases
    return found


def pairs(path: Path, columns: tuple[str, str]) -> list[tuple[str, str]]:
    return [(one.decode(), other.decode()) for _, one, other in open_corpus(path, columns=columns).texts()]


@pytest.mark.parametrize("speakers", [1, 4])
def test_pairs_of_elan(tmp_path: Path, speakers: int) -> None:
    """In order of time; poio-api has all texts of a tier, as the file has them."""
    drawn, path = draw(speakers, speakers), tmp_path / "t.eaf"
    found = environment("pympi", PYMPI).ask(BY_PYMPI, [str(path), drawn])
    of_poio = environment("poio", POIO, GRAF).ask(BY_POIO, str(path))
    for name, (texts, translations) in found.items():
        of_text = {(begin, end): translation for begin, end, translation, _ in translations}
        expected = [(text, of_text.get((begin, end), "")) for begin, end, text in texts]
        assert pairs(path, (f"tx@{name}", f"ft@{name}")) == expected
        assert expected == [(text, other or "") for _, _, text, other in sorted(drawn[name])]
        assert sorted(of_poio[f"tx@{name}"]) == sorted(text for text, _ in expected)
        assert sorted(of_poio[f"ft@{name}"]) == sorted(other for _, other in expected if other)


def test_references_of_pympi(tmp_path: Path) -> None:
    """And leaves what refers to a removed one, which ours counts as a pair without a source."""
    script = """
import json, sys
import pympi
path, middle, removed = json.load(sys.stdin)
eaf = pympi.Elan.Eaf()
eaf.add_linguistic_type("translation", constraints="Symbolic_Association", timealignable=False)
eaf.add_tier("tx"); eaf.add_tier("ft", "translation", parent="tx")
for n in range(3):
    eaf.add_annotation("tx", 10 * n, 10 * n + 10, "one two three".split()[n])
for n in range(3):
    eaf.add_ref_annotation("ft", "tx", 10 * n + middle, "un deux trois".split()[n])
if removed:
    eaf.remove_annotation("tx", 15)
eaf.to_file(path)
print(json.dumps("made"))
"""
    path, there = tmp_path / "t.eaf", environment("pympi", PYMPI)
    whole = [("one", "un"), ("two", "deux"), ("three", "trois")]
    there.ask(script, [str(path), 5, False])
    assert pairs(path, ("tx", "ft")) == whole
    there.ask(script, [str(path), 0, False])
    assert pairs(path, ("tx", "ft")) == [("one", "un deux"), ("two", "trois"), ("three", "")]
    there.ask(script, [str(path), 5, True])
    assert sorted(pairs(path, ("tx", "ft"))) == sorted([whole[0], ("", "deux"), whole[2]])


def flextext(phrases: list[tuple[str, str]]) -> str:
    """Interlinear text as FLEx exports it: words and punctuation of a phrase, and its free translation."""
    body = "".join(
        "<phrase><words>"
        + "".join(f'<word><item type="txt" lang="seh">{escape(word)}</item></word>' for word in text.split())
        + f'</words><item type="gls" lang="en">{escape(translation)}</item></phrase>'
        for text, translation in phrases
    )
    return (
        '<document version="2"><interlinear-text><paragraphs><paragraph><phrases>'
        f"{body}</phrases></paragraph></paragraphs></interlinear-text></document>"
    )


def test_flex_through_elan(tmp_path: Path) -> None:
    phrases = [(text, other or "") for _, _, text, other in sorted(draw(9, 1)["S0"])]
    (tmp_path / "a.flextext").write_text(flextext(phrases), "utf-8")
    read = pairs(tmp_path / "a.flextext", ("seh", "en"))
    timed = {"A": [(100 * n, 100 * n + 100, text, other or None) for n, (text, other) in enumerate(read)]}
    environment("pympi", PYMPI).ask(BY_PYMPI, [str(tmp_path / "b.eaf"), timed])
    in_elan = pairs(tmp_path / "b.eaf", ("tx@A", "ft@A"))
    (tmp_path / "c.flextext").write_text(flextext(in_elan), "utf-8")
    assert pairs(tmp_path / "c.flextext", ("seh", "en")) == in_elan == read == phrases
