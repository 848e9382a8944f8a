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
    whole = '<phrase><item type="txt" lang="seh">Ndoko! Dza!</item><item type="gls" lang="en">Go! Come!</item></phrase>'
    both = two.replace("<phrase guid", f"{whole}<phrase guid").replace(
        '<item type="segnum"', '<item type="txt" lang="seh">Muno kumui.</item><item type="segnum"'
    )
    assert pairs(write(tmp_path, both)) == [(b"Ndoko! Dza!", b"Go! Come!"), *PAIRS]
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


def elan(slots: str, **tiers: list[tuple[str, str, str]]) -> str:
    """Make a file of slots, with a time or none, and of tiers: a tier depends on the one before it.

    tiers: of each annotation a slot, or the annotation that it refers to; the other slot, or none; and the text.
    """
    content = "<ANNOTATION_DOCUMENT><TIME_ORDER>"
    for slot in slots.split():
        name, _, time = slot.partition("=")
        content += f'<TIME_SLOT TIME_SLOT_ID="{name}"' + (f' TIME_VALUE="{time}"/>' if time else "/>")
    content, parent = content + "</TIME_ORDER>", ""
    for tier, texts in tiers.items():
        content += f'<TIER TIER_ID="{tier}"' + (f' PARENT_REF="{parent}">' if parent else ">")
        for number, (begin, end, text) in enumerate(texts):
            own = f'ANNOTATION_ID="{tier}{number}"'
            timed = f'<ALIGNABLE_ANNOTATION {own} TIME_SLOT_REF1="{begin}" TIME_SLOT_REF2="{end}">'
            content += f'<ANNOTATION>{timed if end else f"""<REF_ANNOTATION {own} ANNOTATION_REF="{begin}">"""}'
            content += f"<ANNOTATION_VALUE>{text}</ANNOTATION_VALUE>"
            content += f"</{'ALIGNABLE' if end else 'REF'}_ANNOTATION></ANNOTATION>"
        content, parent = f"{content}</TIER>", tier
    return f"{content}</ANNOTATION_DOCUMENT>"


def test_elan_words_have_times_of_their_own(tmp_path: Path) -> None:
    slots = "a=0 b c d=900 e=900 f g=1500 h=1700"
    texts = [("a", "d", "Muno ku mui"), ("e", "g", "Ee ii"), ("g", "h", "Aa")]
    words = [("a", "b", "Muno"), ("b", "c", "ku"), ("c", "d", "mui"), ("e", "f", "Ee"), ("f", "g", "ii")]
    glosses = [(f"words{number}", "", gloss) for number, gloss in enumerate(["here", "at", "village", "yes", "yes"])]
    path = write(tmp_path, elan(slots, texts=texts, words=words, glosses=glosses))
    expected = [(b"Muno ku mui", b"here at village"), (b"Ee ii", b"yes yes"), (b"Aa", b"")]
    assert pairs(path, columns=("texts", "glosses")) == expected
    assert pairs(path, columns=("texts", "words")) == [(text, text if text != b"Aa" else b"") for text, _ in expected]
    lost = elan(slots, texts=[*texts, ("x", "y", "No time")], other=[("z", "", "Of none"), ("z", "", "indeed")])
    assert set(pairs(write(tmp_path, lost))) == {(b"No time", b""), (b"", b"Of none indeed")} | {
        (text, b"") for text, _ in expected
    }


def test_a_long_chain_of_references_is_followed_once(tmp_path: Path) -> None:
    chain = [(f"b{number + 1}", "", "x") for number in range(20_000)]
    path = write(tmp_path, elan("s=0 t=1", a=[("s", "t", "y")], b=[*chain, ("a0", "", "z")]))
    assert pairs(path) == [(b"y", b"x " * 20_000 + b"z")]


def test_toolbox(tmp_path: Path) -> None:
    path = write(tmp_path, TOOLBOX, "story.txt")
    assert kind_of_units(path) == "Toolbox"
    assert pairs(path) == PAIRS
    assert pairs(path, columns=("ge", "tx"))[0] == (b"here at- village", b"Muno kumui .")
    without = "\n".join(line for line in TOOLBOX.splitlines() if not line.startswith(("\\ref", "\\id", "\\_sh")))
    assert pairs(write(tmp_path, without.lstrip() + "\n")) == PAIRS
    windows = TOOLBOX.replace("\n", "\r\n").replace("\\tx", "\\t").replace("\\ft", "\\f")
    assert pairs(write(tmp_path, windows)) == PAIRS
    for marker in ("utterance_id", "rcrd"):
        other = TOOLBOX.replace("\\id story 1\n", "").replace("\\ref", f"\\{marker}").replace("\\tx", "\\utterance")
        assert pairs(write(tmp_path, other), columns=("utterance", "ft")) == PAIRS
    assert pairs(write(tmp_path, TOOLBOX.replace("\\id story 1", "\\nt of 1")), columns=("tx", "ft"))[-2:] == PAIRS
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
