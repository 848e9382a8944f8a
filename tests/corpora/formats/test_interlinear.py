"""Interlinear text: FLEx, ELAN and Toolbox, as their programs write them, are corpora of baseline and translation."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import left_out, pairs, refuses, turned

from corpora.formats.interlinear import InterlinearFile
from corpora.formats.units import kind_of_units
from corpora.readers import open_corpus
from corpora.skipping import Skipping

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
PAIRS = ["Muno kumui .|Here at the village.", "Ee|"]


def write(folder: Path, content: str, name: str = "a") -> Path:
    (folder / name).write_text(content, "utf-8")
    return folder / name


def told(path: Path, columns: str = "") -> tuple[list[str], dict[str, int]]:
    """The pairs, and what was left out, by reason."""
    with left_out() as counts:
        return pairs(path, columns), counts


def test_flex(tmp_path: Path) -> None:
    path = write(tmp_path, FLEX, "story.flextext")
    assert kind_of_units(path) == "FLEx"
    assert InterlinearFile(path, "FLEx").names == ["seh", "en", "pt"]
    assert pairs(path, "seh,en") == pairs(path, source="seh", target="en") == PAIRS
    assert pairs(path, "pt,seh")[0] == "Aqui na aldeia.|Muno kumui ."
    with refuses(r"has 3 languages, seh, en, pt \(choose two with `columns`, like seh,en\)"):
        open_corpus(path)
    two = FLEX.replace('<item type="gls" lang="pt">Aqui na aldeia.</item>', "")
    assert pairs(write(tmp_path, two)) == PAIRS
    whole = '<phrase><item type="txt" lang="seh">Ndoko! Dza!</item><item type="gls" lang="en">Go! Come!</item></phrase>'
    both = two.replace("<phrase guid", f"{whole}<phrase guid").replace(
        '<item type="segnum"', '<item type="txt" lang="seh">Muno kumui.</item><item type="segnum"'
    )
    assert pairs(write(tmp_path, both)) == ["Ndoko! Dza!|Go! Come!", *PAIRS]
    other = '<?xml version="1.0"?><document><p>text</p></document>'
    assert kind_of_units(write(tmp_path, other)) is None


def flex(*phrases: str, languages: str = "") -> str:
    """Make a file of phrases of words, which have language:word of each writing system, and of translations after >."""
    content = ""
    for phrase in phrases:
        words, _, translations = phrase.partition(">")
        content += "<phrase><words>"
        for word in words.split():
            items = [part.partition(":") for part in word.split("+")]
            kinds = ["txt" if text.isalpha() else "punct" for _, _, text in items]
            made = [
                f'<item type="{kind}" lang="{code}">{text}</item>'
                for kind, (code, _, text) in zip(kinds, items, strict=True)
            ]
            content += f'<word>{"".join(made)}<item type="gls" lang="en">gloss</item></word>'
        content += "</words>"
        for translation in filter(None, translations.split(";")):
            code, _, text = translation.strip().partition(":")
            content += f'<item type="gls" lang="{code}">{text}</item><item type="note" lang="{code}">x</item>'
        content += "</phrase>"
    marks = "".join(f'<language lang="{code}" vernacular="true"/>' for code in languages.split())
    text = f"<interlinear-text><phrases>{content}</phrases><languages>{marks}</languages></interlinear-text>"
    return f'<document version="2">{text}</document>'


@pytest.mark.parametrize("marked", ["qaa", ""])
def test_flex_words_and_translations_of_one_language(tmp_path: Path, marked: str) -> None:
    """Foreign words and punctuation are text, whatever their language."""
    phrases = (
        "qaa:nami qaa:tula en:. > en:The dog sleeps.",
        "en:kiso qaa:tula > en:The cat sleeps.",
        "en:okay",
        "qaa:oro",
    )
    path = write(tmp_path, flex(*phrases, languages=marked))
    expected = ["nami tula .|The dog sleeps.", "kiso tula|The cat sleeps.", "okay|", "oro|"]
    assert pairs(path) == pairs(path, "qaa,en") == expected
    english = path.read_text().replace("qaa", "en")
    assert pairs(write(tmp_path, english)) == expected, "a text and its translation in one language"
    assert InterlinearFile(path, "FLEx").names == ["en", "en.gls"]


def test_flex_items_in_runs(tmp_path: Path) -> None:
    """A word or a translation of several styles; the blanks between their elements are those of the file."""
    item = 'lang="en">\n  <run lang="en">The </run>\n  <run lang="en" style="x">dog</run>\n</item>'
    content = flex("qaa:nami qaa:tula > en:x").replace('lang="en">x</item>', item)
    content = content.replace(">nami<", ">\n<run>na</run>\n<run>mi</run>\n<")
    assert pairs(write(tmp_path, content)) == ["nami tula|The dog"]


def test_flex_words_in_several_writing_systems(tmp_path: Path) -> None:
    phrases = "qaa:Na+qaa-Latn:na pt:sim qaa:tu+qaa-Latn:tu > en:One", "qaa:o+qaa-Latn:oo pt:. > pt:Dois; en:Two"
    path = write(tmp_path, flex(*phrases, languages="qaa"))
    assert InterlinearFile(path, "FLEx").names == ["qaa", "qaa-Latn", "en", "pt"]
    assert pairs(path, "qaa,en") == ["Na sim tu|One", "o .|Two"]
    assert pairs(path, "qaa-Latn,en") == ["na sim tu|One", "oo .|Two"]
    left = {"phrases without text in pt and x": 1}
    other = write(tmp_path, flex(*phrases, "qaa:a > x:Three").replace("qaa-Latn", "x-Latn"))
    assert told(other, "pt,x") == (["Dois|", "|Three"], {**left})
    two = flex("a:one a:two b:three > en:A", "b:four a:five b:six > en:B", languages="a b")
    path = write(tmp_path, two)
    assert pairs(path, "a,b") == ["one two three|", "|four five six"], "of phrases"


HALF = "sides of pairs, as {} has text where {} has none"


def test_elan(tmp_path: Path) -> None:
    path = write(tmp_path, ELAN, "story.eaf")
    assert InterlinearFile(path, "ELAN").names == ["tx@A", "word@A", "ft@A"]
    expected = ["Muno kumui|Here at the village", "Ee & ii|"]
    assert told(path, "tx@A,ft@A") == (expected, {HALF.format("tx@A", "ft@A"): 1})
    assert told(path, "2,3") == (expected[:1], {}), "words refer to what they are words of"
    with refuses("has 3 tiers"):
        open_corpus(path)
    circle = ELAN
    for one, other in (("a3", "a4"), ("a4", "a3")):
        own = f'ANNOTATION_ID="{one}" ANNOTATION_REF='
        circle = circle.replace(f'{own}"a1"', f'{own}"{other}"')
    write(tmp_path, circle, "story.eaf")
    assert told(path, "tx@A,ft@A")[0][0] == expected[0]
    found, counts = told(path, "word@A,ft@A")
    assert sorted(found) == ["Muno kumui|", "|Here at the village"]
    assert counts["references to annotations that are not there"] == 1, "a circle of references ends"


def elan(slots: str, *, independent: bool = False, **tiers: str) -> str:
    """Make a file of slots, with a time or none, and of tiers: a tier depends on the one before it, if any does.

    tiers: after each other with semicolons between, two slots, or the annotation that is referred to, and the text.
    """
    content = "<ANNOTATION_DOCUMENT><TIME_ORDER>"
    for slot in slots.split():
        name, _, time = slot.partition("=")
        content += f'<TIME_SLOT TIME_SLOT_ID="{name}"' + (f' TIME_VALUE="{time}"/>' if time else "/>")
    content, parent = content + "</TIME_ORDER>", ""
    for tier, texts in tiers.items():
        content += f'<TIER TIER_ID="{tier}"' + (f' PARENT_REF="{parent}">' if parent and not independent else ">")
        for number, item in enumerate(texts.split("; ")):
            place, _, text = item.partition(" ")
            begin, _, end = place.partition("-")
            own = f'ANNOTATION_ID="{tier}{number}"'
            timed = f'<ALIGNABLE_ANNOTATION {own} TIME_SLOT_REF1="{begin}" TIME_SLOT_REF2="{end}">'
            content += f'<ANNOTATION>{timed if end else f"""<REF_ANNOTATION {own} ANNOTATION_REF="{begin}">"""}'
            content += f"<ANNOTATION_VALUE>{text}</ANNOTATION_VALUE>"
            content += f"</{'ALIGNABLE' if end else 'REF'}_ANNOTATION></ANNOTATION>"
        content, parent = f"{content}</TIER>", tier
    return f"{content}</ANNOTATION_DOCUMENT>"


def test_elan_words_have_times_of_their_own(tmp_path: Path) -> None:
    slots, texts = "a=0 b c d=900 e=900 f g=1500 h=1700", "a-d Muno ku mui; e-g Ee ii; g-h Aa"
    words = "a-b Muno; b-c ku; c-d mui; e-f Ee; f-g ii"
    glosses = "words0 here; words1 at; words2 village; words3 yes; words4 yes"
    path = write(tmp_path, elan(slots, texts=texts, words=words, glosses=glosses))
    expected = ["Muno ku mui|here at village", "Ee ii|yes yes", "Aa|"]
    assert told(path, "texts,glosses") == (expected, {HALF.format("texts", "glosses"): 1})
    assert told(path, "texts,words")[0] == ["Muno ku mui|Muno ku mui", "Ee ii|Ee ii", "Aa|"]
    assert told(path, "words,glosses") == (["Muno|here", "ku|at", "mui|village", "Ee|yes", "ii|yes"], {})
    lost = elan(slots, texts=f"{texts}; x-y No time", other="z Of none; z indeed")
    found, counts = told(write(tmp_path, lost))
    assert {*found} == {"No time|", "|Of none indeed", "Muno ku mui|", "Ee ii|", "Aa|"}
    assert counts["references to annotations that are not there"] == 2


def test_elan_tiers_that_nobody_asked_for_make_no_pairs(tmp_path: Path) -> None:
    """Of two tiers that depend on nothing, annotations whose times differ a little are a pair; the rest is counted."""
    slots = "a=0 e=1000 b=200 c=300 f=1000 d=2000 g=5 h=1010 i=1990 j=3000 k=4000 l=2990 m=3400"
    tiers = {
        "tx": "a-e nami tula; f-d oro tula; j-k na", "gesture": "b-c nod",
        "ft": "i-l Late; g-h The dog sleeps; f-d The cat sleeps; j-m No,; m-k no.",
    }  # fmt: skip
    path = write(tmp_path, elan(slots, independent=True, **tiers))
    expected = ["nami tula|The dog sleeps", "oro tula|The cat sleeps", "|Late", "na|No, no."]
    assert told(path, "tx,ft") == (expected, {HALF.format("ft", "tx"): 1})
    assert told(path, "ft,tx")[0] == turned(expected)


def test_elan_pairs_are_of_the_lowest_tier_that_both_depend_on(tmp_path: Path) -> None:
    """As in what ELAN makes of FLEx: a paragraph has phrases, and a phrase words and a translation."""
    words = "phrase0 nami; phrase0 tula; phrase1 oro"
    content = elan("a=0 b=9", p="a-b P", phrase="p0 1; p0 2", words=words, gls="phrase1 It sleeps.; phrase0 The dog.")
    path = write(tmp_path, content.replace('"gls" PARENT_REF="words"', '"gls" PARENT_REF="phrase"'))
    assert pairs(path, "words,gls") == ["nami tula|The dog.", "oro|It sleeps."]


@settings(max_examples=20)
@given(st.permutations(range(5)), st.sampled_from(range(-1, 5)))
def test_elan_words_are_in_the_order_of_what_is_before_them(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], last: int
) -> None:
    content = elan("a=0 b=9", t="a-b text", w="; ".join(f"t0 w{number}" for number in range(5)))
    before = [*zip(order[1:], order, strict=False), *([(order[0], last)] if last >= 0 else [])]  # a circle, or not
    for number, previous in before:
        own = f'ANNOTATION_ID="w{number}"'
        content = content.replace(own, f'{own} PREVIOUS_ANNOTATION="w{previous}"')
    (found,) = pairs(write(tmp_path_factory.mktemp("elan"), content))
    words, expected = found.partition("|")[2].split(), [f"w{number}" for number in order]
    assert words == expected if last < 0 else sorted(words) == sorted(expected)


SPANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)


@settings(max_examples=40)
@given(SPANS, SPANS, st.lists(st.integers(0, 9), min_size=1, max_size=6), st.booleans())
def test_no_annotation_is_lost(
    tmp_path_factory: pytest.TempPathFactory,
    ones: list[tuple[int, int]],
    others: list[tuple[int, int]],
    references: list[int],
    independent: bool,
) -> None:
    tiers = {
        "one": [f"{begin}-{end} one{n}" for n, (begin, end) in enumerate(ones)],
        "other": [f"{begin}-{end} other{n}" for n, (begin, end) in enumerate(others)],
        "third": [f"other{number} third{place}" for place, number in enumerate(references)],
    }
    content = elan(
        "0=0 1 2=1 3 4 5=3 6=3 7 8=9 9=10", independent=independent, **{of: "; ".join(t) for of, t in tiers.items()}
    )
    path = write(tmp_path_factory.mktemp("elan"), content)
    for columns in (("one", "other"), ("third", "one"), ("other", "third")):
        found, counts = told(path, ",".join(columns))
        sides = [pair.split("|") for pair in found]
        for side, tier in enumerate(columns):
            words = Counter(word for pair in sides for word in pair[side].split())
            assert words == Counter(text.partition(" ")[2] for text in tiers[tier])
            halves = sum(1 for pair in sides if not pair[1 - side])
            assert halves == counts.get(HALF.format(tier, columns[1 - side]), 0)


def test_a_long_chain_of_references_is_followed_once(tmp_path: Path) -> None:
    texts = [f"x{number % 10}" for number in range(20_000)]
    chain = [f"b{number} {text}" for number, text in enumerate(texts, 1)]
    path = write(tmp_path, elan("s=0 t=1", a="s-t y", b="; ".join([*chain, "a0 z"])))
    assert pairs(path) == [f"y|{' '.join(['z', *texts[::-1]])}"]


def test_toolbox(tmp_path: Path) -> None:
    path = write(tmp_path, TOOLBOX, "story.txt")
    assert kind_of_units(path) == "Toolbox"
    assert pairs(path, "ge,tx")[0] == "here at- village|Muno kumui ."
    without = "\n".join(line for line in TOOLBOX.splitlines() if not line.startswith(("\\ref", "\\id", "\\_sh")))
    windows = TOOLBOX.replace("\n", "\r\n").replace("\\tx", "\\t").replace("\\ft", "\\f")
    for content in (TOOLBOX, without.lstrip() + "\n", windows, TOOLBOX.replace("\n", "\r")):
        assert pairs(write(tmp_path, content)) == PAIRS
    for marker in ("utterance_id", "rcrd"):
        other = TOOLBOX.replace("\\id story 1\n", "").replace("\\ref", f"\\{marker}").replace("\\tx", "\\utterance")
        assert pairs(write(tmp_path, other), "utterance,ft") == PAIRS
    head = write(tmp_path, TOOLBOX.replace("\\id story 1", "\\id story 1\n\\nt of 1"))
    assert told(head) == (PAIRS, {"records without text in tx and ft": 1})
    with refuses("has no 'xx', but tx"):
        pairs(path, "xx,tx")
    assert kind_of_units(write(tmp_path, r"\alpha is a letter")) is None


def test_a_bad_byte_of_toolbox_matters_where_it_is_read(tmp_path: Path) -> None:
    path, lines = tmp_path / "a", TOOLBOX.split("\n")
    for number, line in enumerate(lines, 1):
        content = [*lines[: number - 1], line + "\xa0", *lines[number:]]
        path.write_bytes("\n".join(content).encode("latin-1"))
        read = "\\tx", "\\ft", "village"
        if not line.startswith(read) and (line or not lines[number - 2].startswith(read)):
            assert pairs(path) == PAIRS, line
            continue
        with refuses(f":{number}: not valid UTF-8"):
            pairs(path)
        found = [pair[1:] for pair in Skipping(on_broken=lambda _: None)(open_corpus(path)).texts()]
        left = [f"{source.decode()}|{target.decode()}" for source, target in found]
        assert left == [pair if (number > 12) != (place > 0) else "|" for place, pair in enumerate(PAIRS)]


@pytest.mark.parametrize("content", [FLEX, ELAN])
def test_what_is_damaged_or_hostile(tmp_path: Path, content: str) -> None:
    entity = content.replace("?>", '?><!DOCTYPE x [<!ENTITY e "a">]>', 1).replace("Muno", "&e;")
    halved = content[: len(content) // 2]
    for wrong, message in ((halved, r"a:\d+: is no whole (FLEx|ELAN) file"), (entity, "has an entity of its own")):
        with refuses(message):
            pairs(write(tmp_path, wrong))
