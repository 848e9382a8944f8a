"""Every form of a corpus is recognised, and what is ambiguous or broken is refused with a reason."""

import gzip
import lzma
from itertools import zip_longest
from pathlib import Path

import pytest
from commands import write
from readings import cases, refuses

from corpora.corpus import BYTES_A_WORD_PAIR, Corpus
from corpora.errors import BrokenLine, CorpusError
from corpora.link_files import holds_links
from corpora.links import NO_LINKS, PairLinks
from corpora.readers import group_corpora, open_corpus, open_texts
from corpora.symmetrize import symmetrize

ENGLISH = b"the small house\n\nyes\n"
FRENCH = b"la petite maison\noui\n\n"
BOTH = {"t.en": ENGLISH, "t.fr": FRENCH}
TEXTS = [(1, b"the small house", b"la petite maison"), (2, b"", b"oui"), (3, b"yes", b"")]
GOLD = [PairLinks(frozenset({(0, 0), (2, 2)}), frozenset({(1, 1)})), NO_LINKS, NO_LINKS]
WA = b"0-0 2-2 1?1\n\n\n"
A3 = (
    b"# Sentence pair (1) source length 2 target length 3 alignment score : 0.1\n"
    b"das kleine Haus\nNULL ({ 1 }) small ({ 2 }) house ({ 3 })\n"
)
A3_TURNED = (
    b"# Sentence pair (1) source length 3 target length 2 alignment score : 0.1\n"
    b"small house\nNULL ({ }) das ({ }) kleine ({ 1 }) Haus ({ 2 })\n"
)


def marked(text: bytes) -> bytes:
    lines = text.split(b"\n")[:-1]
    return b"".join(b"<s snum=%04d> %b </s>\n" % (7 + k, line) for k, line in enumerate(lines))


MARKED = {"t.e": marked(ENGLISH), "t.f": marked(FRENCH), "t.wa": b"0007 3 3 S\n7 2 2 P\n7 0 1\n7 1 1\n"}
LINES = [text.split(b"\n")[:3] for text in (ENGLISH, FRENCH, WA)]
TRIPLES = b"".join(b"%b\n%b\n%b\n" % triple for triple in zip(*LINES, strict=True))


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def opened(folder: Path, names: str, chosen: str = "") -> Corpus:
    """The corpus of one name or several, with the languages chosen as in `en>fr`."""
    paths = [folder / name for name in names.split()]
    source, _, target = chosen.partition(">")
    path = paths if len(paths) > 1 else paths[0] if paths else folder
    return open_corpus(path, source=source or None, target=target or None)


def texts(corpus: Corpus) -> list[tuple[int, bytes, bytes]]:
    return list(corpus.texts())


PACKERS = {".gz": gzip.compress, ".xz": lzma.compress}


def named(files: str, *contents: bytes) -> dict[str, bytes]:
    """Files of these names, packed as they say; those beyond the contents are of three lines."""
    names, rest = files.split(), b"a\nb\nc\n"
    given = zip_longest(names, contents[: len(names)], fillvalue=rest)
    return {name: PACKERS.get(name[-3:], bytes)(content) for name, content in given}


@pytest.mark.parametrize(
    ("files", "names", "chosen", "known"),
    cases(
        """
        t.en.gz t.fr.xz ¦ t ¦  ¦ en fr
        a.b.e a.b.f a.e a.x.wa ¦ a.b ¦  ¦ e f
        t.en t.fr ¦ t ¦ >fr ¦ en fr
        t.fr t.en ¦ t ¦ fr> ¦ fr en
        t.fr t.en ¦ t ¦ >en ¦ fr en
        t.fr t.en ¦ t ¦ fr>en ¦ fr en
        t.en t.fr t.de ¦ t ¦ en>fr ¦ en fr
        t.e t.f ¦ t ¦  ¦ e f
        t.src t.tgt ¦ t ¦  ¦ src tgt
        t.source t.target ¦ t ¦  ¦ source target
        t.eng_Latn t.zh-Hans ¦ t ¦  ¦ eng_Latn zh-Hans
        t.english t.french ¦ t ¦ english>french ¦ english french
        t.en t.fr README.md notes other.en ¦  ¦  ¦ en fr
        a.fr b.en.gz ¦ a.fr b.en.gz ¦  ¦ fr en
        b.en a.fr ¦ a.fr b.en ¦ en> ¦ en fr
        b.en a.fr ¦ a.fr b.en ¦ >fr ¦ en fr
        left right ¦ left right ¦  ¦ None None
        left right ¦ left right ¦ en>fr ¦ en fr
        """
    ),
)
def test_two_texts(tmp_path: Path, files: str, names: str, chosen: str, known: str) -> None:
    corpus = opened(put(tmp_path, named(files, ENGLISH, FRENCH)), names, chosen)
    assert texts(corpus) == texts(corpus) == TEXTS
    assert list(corpus.lengths()) == [(3, 3), (0, 1), (1, 0)]
    assert " ".join(map(str, corpus.languages)) == known
    assert not corpus.has_links
    with refuses("has no links"):
        corpus.links()


OF_TASK = b"1 3 3\n1 2 2 P\n1 1 1\n"


@pytest.mark.parametrize(
    ("files", "names"),
    [
        *[(named(f"t.en t.fr t.{x}.gz", ENGLISH, FRENCH, WA), "t")
          for x in "wa giza links align naacl pharaoh".split()],
        (named("t.en t.fr t.talp", ENGLISH, FRENCH, b"1-1 3-3 2p2\n\n\n"), "t"),
        (named("t.en t.fr t.wa", ENGLISH, FRENCH, WA), ""), ({"triples": TRIPLES}, "triples"), (MARKED, "t"),
        (named("a.b.e a.b.f a.b.wa a.x.wa", ENGLISH, FRENCH, WA), "a.b"),
        (named("t.e t.f t.wa", ENGLISH, FRENCH, OF_TASK), "t"),
    ],
)  # fmt: skip
def test_texts_with_links(tmp_path: Path, files: dict[str, bytes], names: str) -> None:
    corpus = opened(put(tmp_path, files), names)
    assert corpus.has_links
    assert [text[1:] for text in texts(corpus)] == [text[1:] for text in TEXTS]
    assert [line for line, *_ in texts(corpus)] == ([1, 4, 7] if names == "triples" else [1, 2, 3])
    assert list(corpus.links()) == list(corpus.links()) == GOLD


def test_a_corpus_tells_what_it_takes_for_what(tmp_path: Path) -> None:
    put(tmp_path, {**BOTH, "t.wa": WA})
    assert open_corpus(tmp_path / "t").description() == (
        f"{tmp_path}/t: texts t.en = source, t.fr = target (alphabetical order unless a language is chosen), links t.wa"
    )
    assert "alphabetical" not in open_corpus(tmp_path / "t", source="fr").description()


@pytest.mark.parametrize("suffix", ["log", "bak", "md", "BAK", "fwd", "tmp", "py", "txt", "json", "journal"])
def test_other_files_are_no_languages(tmp_path: Path, suffix: str) -> None:
    put(tmp_path, {**BOTH, f"t.{suffix}": FRENCH})
    assert texts(open_corpus(tmp_path / "t")) == texts(open_corpus(tmp_path)) == TEXTS
    assert open_corpus(tmp_path / "t", target=suffix, source="en").languages == ("en", suffix)


def test_links_are_never_transposed(tmp_path: Path) -> None:
    put(tmp_path, {"t.en": b"a b c\n", "t.fr": b"d\n", "t.wa": b"2-0\n"})
    assert list(open_corpus(tmp_path / "t").links()) == [PairLinks(frozenset({(2, 0)}))]
    what = r"t.wa:1: link 2-0 is out of range for 1 source and 3 target words \(are source and target swap"
    with refuses(what):
        list(open_corpus(tmp_path / "t", source="fr").links())


def giza_of(*parts: bytes) -> dict[str, bytes]:
    return dict(zip("ab", parts, strict=True))


MISTAKEN = {"t.en": ENGLISH, "t.wa": WA, "t.A3.final": A3}


@pytest.mark.parametrize(
    ("files", "names", "chosen", "what"),
    [
        ({**MARKED, "t.f": MARKED["t.f"].replace(b"0008", b"0011")}, "t", "",
         r"t.f:2: sentence 11, but .*t.e has sentence 8 here"),
        ({**MARKED, "t.f": FRENCH}, "t", "", "t.f:1: not a line '<s snum="),
        ({**BOTH, "t.wa": b"1 3 3\n1 4 2 P\n"}, "t", "", "t.wa:2: link 3-1 is out of range for 3 source and 3 target"),
        ({**BOTH, "t.wa": b"0-0\n\n"}, "t", "", "t.wa:2: the links end after 2 pairs, but the text goes on"),
        ({**BOTH, "t.wa": b"0-0\n\nzero\n"}, "t", "", "t.wa:3: 'zero' is not a link"),
        *[(named("t.en t.fr t.de", ENGLISH, FRENCH), "t", chosen, r"t: texts in 3 languages: de, en, fr \(choose the")
          for chosen in ("", "en>", ">de")],
        (BOTH, "t", "de>", r"t: no text in de \(there is en, fr\)"),
        (BOTH, "t", "en>en", "source and target are both en"),
        ({"one.en": ENGLISH}, "one", "", "one: only one text, in en"),
        ({}, "t", "", "t: no such file, folder or prefix"), ({}, "no/t", "", "t: no such file, folder or prefix"),
        ({}, "", "", ": no texts in two languages"),
        ({**BOTH, "u.en": ENGLISH, "u.fr": FRENCH}, "", "", ": more than one corpus: t, u"),
        (MISTAKEN, "t.en t.fr", "", "t.fr: no such file"), (MISTAKEN, "t.en t.wa", "", "t.wa: holds links, not text"),
        (MISTAKEN, "t.en t.A3.final", "", "t.en: is no A3.final file"),
        (giza_of(A3, A3), "a b", "", "b:1: is not the pair at line 1 of .*a with its sides swapped"),
        (giza_of(A3 + A3.replace(b"(1)", b"(2)"), A3_TURNED), "a b", "", "b:3: has fewer pairs than the other"),
        *[({"t": content}, "t", "", what) for content, what in [
            (b"a\nx y\n0-1\na b\nx\n0-1\n", "t:6: link 0-1 is out of range for 2 source"), (ENGLISH, "t: is one text"),
            (b"\n[Music] plays\nmore\n", r"t: is one text, .* after it: '\[Music\] plays' \(give two"),
            (b'[\n {"en": "a",\n "fr": "b"}]', "t: looks like JSON"),
            (b"<!DOCTYPE html><html>a</html>", "t: looks like XML or HTML"),
            (b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,000\r\na\r\n", "t: looks like subtitles"),
            (b'# by A\n\nmsgid "house"\nmsgstr "maison"\n', "t: looks like gettext"),
            (b"SQLite format 3\0\x10\0", r"t: looks like a database such as .sdltm"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "t: looks like data that is no text"),
            (b"\x7fELF\x02\x01\x01\0\0\0", "t: looks like data that is no text"),
            (b"{\\rtf1 a}", "t: is a document such"),
            (WA, "t: holds links, not text"), (b"1 1 1\n", "t: holds links"), (b"", "t: the corpus"),
            (b"a\tb\na b\nc\td\n", "t:2: no .*each line must be: source .* target, or source TAB target")]],
    ],
)  # fmt: skip
def test_what_is_no_corpus(tmp_path: Path, files: dict[str, bytes], names: str, chosen: str, what: str) -> None:
    put(tmp_path, files)
    with refuses(what):
        corpus = opened(tmp_path, names, chosen)
        texts(corpus)
        list(corpus.links())


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"a b", "no |||"),
        (b"a | b", "no |||"),
        (b"a ||| b ||| c", "more than one |||"),
        (b"a ||| |||", "more than one |||"),
        (b"a\tb\tc", "more than one ||| or tab"),
        (b"a\tb ||| c", "more than one ||| or tab"),
    ],
)
def test_broken_lines(tmp_path: Path, line: bytes, what: str) -> None:
    """A blank one is an empty pair."""
    corpus = open_corpus(put(tmp_path, {"joint": b" \na ||| b\n" + line + b"\nc ||| d\n"}) / "joint")
    found = corpus.texts()
    assert [next(found), next(found)] == [(1, b"", b""), (2, b"a", b"b")]
    with pytest.raises(CorpusError) as caught:
        next(found)
    assert caught.value.line == 3
    assert caught.value.what.startswith(what)


@pytest.mark.parametrize("bars", ["|||", " ||| ", "x ||| ||| y"])
@pytest.mark.parametrize("place", [0, 1, 29])
def test_bars_in_texts_of_json(tmp_path: Path, bars: str, place: int) -> None:
    lines = [b'{"source": "%d", "target": ["%d"]}' % (n, n) for n in range(30)]
    lines[place] = b'{"source": "%b", "target": ["d", "%b"]}' % (bars.encode(), bars.encode())
    corpus = open_corpus(put(tmp_path, {"t": b"\n".join(lines)}) / "t")
    assert [*corpus.texts()][place][1:] == (bars.encode(), f"d {bars}".encode())
    links = [b'{"source": ["|||"], "target": ["x ||| y"], "links": [[0, 0]]}'] * 3
    assert holds_links(put(tmp_path, {"t": b"\n".join(links)}) / "t")
    braces = b'{ "a" ||| { "b" }\n'
    (text,) = open_corpus(put(tmp_path, {"t": braces}) / "t").texts()
    assert text[1:] == (b'{ "a"', b'{ "b" }'), "no JSON"


def test_tabs_are_recognised(tmp_path: Path) -> None:
    file = put(tmp_path, {"tsv": b"a  b\tc\n\n\tonly target\r\nonly source\t\n"}) / "tsv"
    pairs = [(1, b"a  b", b"c"), (2, b"", b""), (3, b"", b"only target"), (4, b"only source", b"")]
    assert texts(open_corpus(file)) == pairs
    assert group_corpora([str(file), str(file)]) == [[str(file)], [str(file)]]


@pytest.mark.parametrize("row", [b"source\ttarget", b"en\tfr", b"Source text\ttarget_text", b"pt-BR\teng_Latn"])
def test_names_of_columns_are_no_text(tmp_path: Path, row: bytes) -> None:
    lines = open_corpus(put(tmp_path, {"tsv": row + b"\na b\tc\n" + row + b"\n"}) / "tsv").texts()
    with refuses(r"tsv:1: .* are names of columns, not text \(delete the line", BrokenLine):
        next(lines)
    assert [line for line, *_ in lines] == [2, 3]


@pytest.mark.parametrize("row", [b"en ||| fr", b"no\tno", b"the source\tla source", b"a\tb", b"en\tit's"])
def test_pairs_that_are_text(tmp_path: Path, row: bytes) -> None:
    assert len(texts(open_corpus(put(tmp_path, {"tsv": row + b"\na b\tc\n"}) / "tsv"))) == 2


def test_tabs_may_be_blanks_of_a_text(tmp_path: Path) -> None:
    put(tmp_path, {"t.en": b"a\tb\nc\nd e\n", "t.fr": FRENCH})
    files = [str(tmp_path / "t.en"), str(tmp_path / "t.fr")]
    assert group_corpora(files) == [files]
    assert texts(open_corpus(files))[0] == (1, b"a\tb", b"la petite maison")


@pytest.mark.parametrize(
    ("second", "links"),
    [
        (None, {(0, 1), (1, 2)}),
        (A3_TURNED, {(0, 1), (1, 2)}),
        (A3_TURNED.replace(b"kleine ({ 1 }) Haus ({ 2 })", b"kleine ({ 2 }) Haus ({ 1 })"), {(1, 1), (0, 2)}),
    ],
)
def test_giza_in_one_direction_or_two(tmp_path: Path, second: bytes | None, links: set[tuple[int, int]]) -> None:
    """The second is transposed."""
    put(tmp_path, {"x.A3.final.gz": gzip.compress(A3), "y": second or b""})
    corpus = opened(tmp_path, "x.A3.final.gz y" if second else "x.A3.final.gz", "en>")
    assert texts(corpus) == [(1, b"small house", b"das kleine Haus")]
    expected = symmetrize({(0, 1), (1, 2)}, links, "grow-diag-final-and")
    assert list(corpus.links()) == [PairLinks(frozenset(expected))]
    assert corpus.languages == ("en", None)


def test_grouping(tmp_path: Path) -> None:
    put(tmp_path, {**BOTH, "joint": b"a ||| b\n", "giza": A3, "turned": A3_TURNED})
    en, fr, joint, giza, turned, prefix = (
        str(tmp_path / name) for name in ("t.en", "t.fr", "joint", "giza", "turned", "t")
    )
    assert group_corpora([]) == []
    assert group_corpora([en, fr, fr, en, prefix, "-"]) == [[en, fr], [fr, en], [prefix], ["-"]]
    assert group_corpora([joint, en, fr, joint]) == [[joint], [en, fr], [joint]]
    assert group_corpora([giza, turned, giza, giza]) == [[giza, turned], [giza], [giza]]
    assert group_corpora([en, joint, fr]) == [[en], [joint], [fr]]
    assert group_corpora([str(tmp_path), en, "missing"]) == [[str(tmp_path)], [en], ["missing"]]


def test_three_paths_are_no_corpus() -> None:
    with pytest.raises(ValueError, match="one path or two, not 3"):
        open_corpus(["a", "b", "c"])


def test_the_first_pair_that_is_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora.corpus.usable_memory", lambda: 12 * BYTES_A_WORD_PAIR)
    corpus = open_texts(write(tmp_path / "a"), write(tmp_path / "b"))
    corpus.check_lengths([(1, b"w w w", b"w w w w"), (2, b"", b"w " * 100), (3, b"w" * 100, b"w" * 100)])
    with refuses(r"a:7: 13 source and 1 target words need more memory than there is \(split"):
        corpus.check_lengths([(6, b"w", b"w"), (7, b"w " * 13, b"w"), (8, b"w " * 20, b"w")])
