"""Interlinear text: FLEx, ELAN and Toolbox, as their programs write them, are corpora of baseline and translation."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.errors import CorpusError
from corpora.formats.units import UnitFile, kind_of_units
from corpora.readers import open_corpus

FLEX = """<?xml version="1.0" encoding="utf-8"?>
<document version="2"><interlinear-text guid="5e"><item type="title" lang="en">A story</item>
<paragraphs><paragraph><phrases>
<phrase guid="a"><item type="segnum" lang="en">1</item>
<words><word guid="b"><item type="txt" lang="seh">Muno</item>
<morphemes><morph type="stem"><item type="txt" lang="seh">muno</item>
<item type="gls" lang="en">here</item></morph></morphemes>
<item type="gls" lang="en">here</item><item type="pos" lang="en">adv</item></word>
<word><item type="txt" lang="seh">kumui</item></word><word><item type="punct" lang="seh">.</item></word></words>
<item type="gls" lang="en">Here at the
village.</item><item type="gls" lang="pt">Aqui na aldeia.</item><item type="lit" lang="en">here village</item></phrase>
<phrase><words><word><item type="txt" lang="seh">Ee</item></word></words><item type="gls" lang="en"></item></phrase>
</phrases></paragraph></paragraphs><languages><language lang="seh" vernacular="true"/></languages></interlinear-text>
</document>
"""
ELAN = """<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT AUTHOR="" DATE="2020-01-01T00:00:00+00:00" FORMAT="3.0" VERSION="3.0">
<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>
<TIME_ORDER><TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="0"/><TIME_SLOT TIME_SLOT_ID="ts2" TIME_VALUE="900"/>
<TIME_SLOT TIME_SLOT_ID="ts3" TIME_VALUE="1200"/><TIME_SLOT TIME_SLOT_ID="ts4" TIME_VALUE="2500"/></TIME_ORDER>
<TIER LINGUISTIC_TYPE_REF="utterance" TIER_ID="tx@A">
<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a2" TIME_SLOT_REF1="ts3" TIME_SLOT_REF2="ts4"><ANNOTATION_VALUE>Ee &amp; ii</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts2"><ANNOTATION_VALUE>Muno kumui</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
</TIER>
<TIER PARENT_REF="tx@A" TIER_ID="word@A">
<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a3" ANNOTATION_REF="a1"><ANNOTATION_VALUE>Muno</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>
<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a4" ANNOTATION_REF="a1" PREVIOUS_ANNOTATION="a3"><ANNOTATION_VALUE>kumui</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>
</TIER>
<TIER TIER_ID="ft@A">
<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a5" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts2"><ANNOTATION_VALUE>Here at the village</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
</TIER>
</ANNOTATION_DOCUMENT>
"""  # noqa: E501
TOOLBOX = r"""\_sh v3.0  400  Text

\id story 1

\ref story.001
\tx Muno   kumui
\mb muno   ku- mui
\ge here   at- village
\tx .
\ft Here at the
village.

\ref story.002
\tx Ee
\nt no translation yet
"""
PAIRS = [(b"Muno kumui .", b"Here at the village."), (b"Ee", b"")]


def write(folder: Path, content: str, name: str = "a") -> Path:
    (folder / name).write_text(content, "utf-8")
    return folder / name


def pairs(path: Path, **chosen: object) -> list[tuple[bytes, bytes]]:
    corpus = open_corpus(path, **chosen)  # type: ignore[arg-type]
    texts = [pair[1:] for pair in corpus.texts()]
    assert [text[1:] for number in (1, 2) for text in corpus.shard(number, 2).texts()] == texts
    return texts


def test_flex(tmp_path: Path) -> None:
    path = write(tmp_path, FLEX, "story.flextext")
    assert kind_of_units(path) == "FLEx"
    assert UnitFile(path, "FLEx").names == ["seh", "en", "pt"]
    assert pairs(path, columns=("seh", "en")) == pairs(path, source="seh", target="en") == PAIRS
    assert pairs(path, columns=("pt", "seh"))[0] == (b"Aqui na aldeia.", b"Muno kumui .")
    with pytest.raises(CorpusError, match=r"has 3 languages, seh, en, pt \(choose two with `columns`, like seh,en\)"):
        open_corpus(path)
    two = FLEX.replace('<item type="gls" lang="pt">Aqui na aldeia.</item>', "")
    assert pairs(write(tmp_path, two)) == PAIRS
    other = '<?xml version="1.0"?><document><p>text</p></document>'
    assert kind_of_units(write(tmp_path, other)) is None


def test_elan(tmp_path: Path) -> None:
    path = write(tmp_path, ELAN, "story.eaf")
    assert UnitFile(path, "ELAN").names == ["tx@A", "word@A", "ft@A"]
    expected = [(b"Muno kumui", b"Here at the village"), (b"Ee & ii", b"")]
    assert pairs(path, columns=("tx@A", "ft@A")) == expected
    assert pairs(path, columns=("2", "3")) == [expected[0], (b"", b"")], "words refer to what they are words of"
    with pytest.raises(CorpusError, match="has 3 tiers"):
        open_corpus(path)


def test_toolbox(tmp_path: Path) -> None:
    path = write(tmp_path, TOOLBOX, "story.txt")
    assert kind_of_units(path) == "Toolbox"
    assert pairs(path) == PAIRS
    assert pairs(path, columns=("ge", "tx"))[0] == (b"here at- village", b"Muno kumui .")
    without = "\n".join(line for line in TOOLBOX.splitlines() if not line.startswith(("\\ref", "\\id", "\\_sh")))
    assert pairs(write(tmp_path, without.lstrip() + "\n")) == PAIRS
    windows = TOOLBOX.replace("\n", "\r\n").replace("\\tx", "\\t").replace("\\ft", "\\f")
    assert pairs(write(tmp_path, windows)) == PAIRS
    with pytest.raises(CorpusError, match="has no 'xx', but tx"):
        pairs(path, columns=("xx", "tx"))
    path.write_bytes(TOOLBOX.encode().replace(b"Ee", b"\xff"))
    with pytest.raises(CorpusError, match=r"story.txt:14: not valid UTF-8"):
        pairs(path)
    assert kind_of_units(write(tmp_path, r"\alpha is a letter")) is None


@pytest.mark.parametrize("content", [FLEX, ELAN])
def test_what_is_damaged_or_hostile(tmp_path: Path, content: str) -> None:
    for wrong, message in (
        (content[: len(content) // 2], r"a:\d+: is no whole (FLEx|ELAN) file"),
        (
            content.replace("?>", '?><!DOCTYPE x [<!ENTITY e "a">]>', 1).replace("Muno", "&e;"),
            "has an entity of its own",
        ),
    ):
        with pytest.raises(CorpusError, match=message):
            pairs(write(tmp_path, wrong))


def test_a_circle_of_references_ends(tmp_path: Path) -> None:
    circle = ELAN.replace('ANNOTATION_ID="a3" ANNOTATION_REF="a1"', 'ANNOTATION_ID="a3" ANNOTATION_REF="a4"')
    circle = circle.replace('ANNOTATION_ID="a4" ANNOTATION_REF="a1"', 'ANNOTATION_ID="a4" ANNOTATION_REF="a3"')
    assert (b"Muno kumui", b"Here at the village") in pairs(write(tmp_path, circle), columns=("tx@A", "ft@A"))
