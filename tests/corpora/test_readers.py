"""Every form of a corpus is recognised, and what is ambiguous or broken is refused with a reason."""

import gzip
import io
import lzma
import sys
from pathlib import Path

import pytest
from commands import write
from hypothesis import given
from hypothesis import strategies as st

from corpora.alignment import NO_LINKS, PairLinks
from corpora.corpus import BYTES_A_WORD_PAIR, Corpus
from corpora.errors import BrokenLine, CorpusError
from corpora.readers import group_corpora, open_corpus, open_texts
from corpora.symmetrize import symmetrize

ENGLISH = b"the small house\n\nyes\n"
FRENCH = b"la petite maison\noui\n\n"
TEXTS = [
    (1, b"the small house", b"la petite maison"),
    (2, b"", b"oui"),
    (3, b"yes", b""),
]
TURNED = [(line, target, source) for line, source, target in TEXTS]
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


def put(folder: Path, **files: bytes) -> Path:
    """Write files whose names are given with _ for the dots; return the folder."""
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    return folder


def texts(corpus: Corpus) -> list[tuple[int, bytes, bytes]]:
    return list(corpus.texts())


def languages(corpus: Corpus) -> tuple[str | None, str | None]:
    return corpus.source_language, corpus.target_language


class TestPrefix:
    def test_plain_gzip_and_xz(self, tmp_path: Path) -> None:
        put(tmp_path, t_en_gz=gzip.compress(ENGLISH), t_fr_xz=lzma.compress(FRENCH), t_wa=WA)
        corpus = open_corpus(tmp_path / "t")
        assert texts(corpus) == texts(corpus) == TEXTS
        assert languages(corpus) == ("en", "fr")
        assert corpus.has_links
        assert list(corpus.links()) == list(corpus.links()) == GOLD
        assert list(corpus.lengths()) == [(3, 3), (0, 1), (1, 0)]
        assert corpus.description() == (
            f"{tmp_path}/t: texts t.en.gz = source, t.fr.xz = target "
            "(alphabetical order unless a language is chosen), links t.wa"
        )

    @pytest.mark.parametrize("chosen", [{"source": "fr"}, {"target": "en"}, {"source": "fr", "target": "en"}])
    def test_chosen_order(self, tmp_path: Path, chosen: dict[str, str]) -> None:
        corpus = open_corpus(put(tmp_path, t_en=ENGLISH, t_fr=FRENCH) / "t", **chosen)
        assert texts(corpus) == TURNED
        assert languages(corpus) == ("fr", "en")
        assert "alphabetical" not in corpus.description()

    def test_names_with_dots(self, tmp_path: Path) -> None:
        put(tmp_path, a_b_e=ENGLISH, a_b_f=FRENCH, a_b_wa=WA, a_e=b"", a_x_wa=b"")
        corpus = open_corpus(str(tmp_path / "a.b"))
        assert texts(corpus) == TEXTS
        assert list(corpus.links()) == GOLD

    @pytest.mark.parametrize("suffix", ["wa", "giza", "links", "align", "talp", "naacl", "pharaoh"])
    def test_suffixes_of_links(self, tmp_path: Path, suffix: str) -> None:
        content = b"1-1 3-3 2p2\n\n\n" if suffix == "talp" else WA
        put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, **{f"t_{suffix}_gz": gzip.compress(content)})
        assert list(open_corpus(tmp_path / "t").links()) == GOLD

    def test_naacl_links_and_marked_up_text(self, tmp_path: Path) -> None:
        def marked(text: bytes) -> bytes:
            lines = text.split(b"\n")[:-1]
            return b"".join(b"<s snum=%04d> %b </s>\n" % (7 + k, line) for k, line in enumerate(lines))

        put(tmp_path, t_e=marked(ENGLISH), t_f=marked(FRENCH), t_wa=b"0007 3 3 S\n7 2 2 P\n7 0 1\n7 1 1\n")
        corpus = open_corpus(tmp_path / "t")
        assert texts(corpus) == TEXTS
        assert list(corpus.links()) == GOLD
        put(tmp_path, t_f=marked(FRENCH).replace(b"0008", b"0011"))
        with pytest.raises(CorpusError, match=r"t.f:2: sentence 11, but .*t.e has sentence 8 here"):
            texts(open_corpus(tmp_path / "t"))
        put(tmp_path, t_f=FRENCH)
        with pytest.raises(CorpusError, match=r"t.f:1: not a line '<s snum="):
            texts(open_corpus(tmp_path / "t"))

    def test_naacl_links_beside_plain_text(self, tmp_path: Path) -> None:
        put(tmp_path, t_e=ENGLISH, t_f=FRENCH, t_wa=b"1 3 3\n1 2 2 P\n1 1 1\n")
        assert list(open_corpus(tmp_path / "t").links()) == GOLD
        put(tmp_path, t_wa=b"1 3 3\n1 4 2 P\n")
        with pytest.raises(CorpusError, match=r"t.wa:2: link 3-1 is out of range for 3 source and 3 target"):
            list(open_corpus(tmp_path / "t").links())

    def test_links_are_never_transposed(self, tmp_path: Path) -> None:
        put(tmp_path, t_en=b"a b c\n", t_fr=b"d\n", t_wa=b"2-0\n")
        assert list(open_corpus(tmp_path / "t").links()) == [PairLinks(frozenset({(2, 0)}), frozenset())]
        what = r"t.wa:1: link 2-0 is out of range for 1 source and 3 target words \(are source and target swap"
        with pytest.raises(CorpusError, match=what):
            list(open_corpus(tmp_path / "t", source="fr").links())

    def test_links_of_another_length(self, tmp_path: Path) -> None:
        put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, t_wa=b"0-0\n\n")
        with pytest.raises(CorpusError, match=r"t.wa:2: the links end after 2 pairs, but the text goes on"):
            list(open_corpus(tmp_path / "t").links())

    def test_garbage_in_links(self, tmp_path: Path) -> None:
        put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, t_wa=b"0-0\n\nzero\n")
        with pytest.raises(CorpusError, match=r"t.wa:3: 'zero' is not a link"):
            list(open_corpus(tmp_path / "t").links())

    def test_no_links(self, tmp_path: Path) -> None:
        corpus = open_corpus(put(tmp_path, t_en=ENGLISH, t_fr=FRENCH) / "t")
        assert not corpus.has_links
        with pytest.raises(CorpusError, match="t: has no links"):
            corpus.links()

    def test_three_languages(self, tmp_path: Path) -> None:
        put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, t_de=b"a\nb\nc\n")
        for chosen in ({}, {"source": "en"}, {"target": "de"}):
            with pytest.raises(CorpusError, match=r"t: texts in 3 languages: de, en, fr \(choose the source"):
                open_corpus(tmp_path / "t", **chosen)
        assert texts(open_corpus(tmp_path / "t", source="fr", target="en")) == TURNED

    @pytest.mark.parametrize("suffix", ["log", "bak", "md", "BAK", "fwd", "tmp", "py", "txt", "json", "journal"])
    def test_other_files_are_no_languages(self, tmp_path: Path, suffix: str) -> None:
        put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, **{f"t_{suffix}": FRENCH})
        assert texts(open_corpus(tmp_path / "t")) == texts(open_corpus(tmp_path)) == TEXTS
        assert languages(open_corpus(tmp_path / "t", target=suffix, source="en")) == ("en", suffix)

    @pytest.mark.parametrize("suffixes", [("e", "f"), ("src", "tgt"), ("source", "target"), ("eng_Latn", "zh-Hans")])
    def test_names_of_sides_and_scripts_are_languages(self, tmp_path: Path, suffixes: tuple[str, str]) -> None:
        for suffix, content in zip(suffixes, (ENGLISH, FRENCH), strict=True):
            (tmp_path / f"t.{suffix}").write_bytes(content)
        assert texts(open_corpus(tmp_path / "t")) == TEXTS

    def test_languages_written_out(self, tmp_path: Path) -> None:
        put(tmp_path, t_english=ENGLISH, t_french=FRENCH)
        assert texts(open_corpus(tmp_path / "t", source="english", target="french")) == TEXTS

    def test_wrong_languages(self, tmp_path: Path) -> None:
        put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, one_en=ENGLISH)
        with pytest.raises(CorpusError, match=r"t: no text in de \(there is en, fr\)"):
            open_corpus(tmp_path / "t", source="de")
        with pytest.raises(CorpusError, match="source and target are both en"):
            open_corpus(tmp_path / "t", source="en", target="en")
        with pytest.raises(CorpusError, match="one: only one text, in en"):
            open_corpus(tmp_path / "one")

    def test_nothing_there(self, tmp_path: Path) -> None:
        for path in (tmp_path / "t", tmp_path / "no" / "t"):
            with pytest.raises(CorpusError, match="t: no such file, folder or prefix"):
                open_corpus(path)


class TestFolder:
    def test_one_prefix(self, tmp_path: Path) -> None:
        put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, t_wa=WA, README_md=b"x", notes=b"x", other_en=ENGLISH)
        corpus = open_corpus(tmp_path)
        assert texts(corpus) == TEXTS
        assert list(corpus.links()) == GOLD

    def test_none_or_many(self, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match=": no texts in two languages"):
            open_corpus(tmp_path)
        put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, u_en=ENGLISH, u_fr=FRENCH)
        with pytest.raises(CorpusError, match=": more than one corpus: t, u"):
            open_corpus(tmp_path)


class TestTwoTexts:
    def test_in_the_order_given(self, tmp_path: Path) -> None:
        put(tmp_path, a_fr=FRENCH, b_en_gz=gzip.compress(ENGLISH))
        corpus = open_corpus([tmp_path / "a.fr", tmp_path / "b.en.gz"])
        assert texts(corpus) == TURNED
        assert languages(corpus) == ("fr", "en")
        assert not corpus.has_links

    @pytest.mark.parametrize("chosen", [{"source": "en"}, {"target": "fr"}])
    def test_in_the_order_chosen(self, tmp_path: Path, chosen: dict[str, str]) -> None:
        put(tmp_path, a_fr=FRENCH, b_en=ENGLISH)
        corpus = open_corpus([tmp_path / "a.fr", tmp_path / "b.en"], **chosen)
        assert texts(corpus) == TEXTS
        assert languages(corpus) == ("en", "fr")

    def test_names_without_languages(self, tmp_path: Path) -> None:
        put(tmp_path, left=ENGLISH, right=FRENCH)
        assert languages(open_corpus([tmp_path / "left", tmp_path / "right"])) == (None, None)
        named = open_corpus([tmp_path / "left", tmp_path / "right"], source="en", target="fr")
        assert languages(named) == ("en", "fr")
        assert texts(named) == TEXTS

    def test_missing_and_mistaken_files(self, tmp_path: Path) -> None:
        put(tmp_path, t_en=ENGLISH, t_wa=WA, t_A3_final=A3)
        with pytest.raises(CorpusError, match=r"t.fr: no such file"):
            open_corpus([tmp_path / "t.en", tmp_path / "t.fr"])
        with pytest.raises(CorpusError, match=r"t.wa: holds links, not text"):
            open_corpus([tmp_path / "t.en", tmp_path / "t.wa"])
        with pytest.raises(CorpusError, match=r"t.en: is no A3.final file"):
            open_corpus([tmp_path / "t.en", tmp_path / "t.A3.final"])


class TestJoint:
    WORD = st.sampled_from([b"a", b"|", b"||", b"||||", "\u2028".encode(), b"|||b"])

    @given(
        st.lists(st.tuples(st.lists(WORD, max_size=4), st.lists(WORD, max_size=4)), min_size=1, max_size=6),
        st.sampled_from([b"\n", b"\r\n"]),
    )
    def test_lines_are_split_at_the_separator(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        pairs: list[tuple[list[bytes], list[bytes]]],
        ending: bytes,
    ) -> None:
        file = tmp_path_factory.mktemp("joint") / "joint"
        lines = [(b" ".join(source), b" ".join(target)) for source, target in pairs]
        file.write_bytes(b"".join(source + b" ||| " + target + ending for source, target in lines))
        assert texts(open_corpus(file)) == [(line, *pair) for line, pair in enumerate(lines, 1)]

    def test_languages_only_name_the_sides(self, tmp_path: Path) -> None:
        corpus = open_corpus(put(tmp_path, joint=b"a ||| b\n") / "joint", source="fr", target="en")
        assert languages(corpus) == ("fr", "en")
        assert texts(corpus) == [(1, b"a", b"b")]

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
    def test_broken_lines(self, tmp_path: Path, line: bytes, what: str) -> None:
        corpus = open_corpus(put(tmp_path, joint=b"a ||| b\n" + line + b"\nc ||| d\n") / "joint")
        with pytest.raises(CorpusError) as caught:
            texts(corpus)
        assert caught.value.line == 2
        assert caught.value.what.startswith(what)

    def test_a_blank_line_is_an_empty_pair(self, tmp_path: Path) -> None:
        corpus = open_corpus(put(tmp_path, joint=b"a ||| b\n \nc ||| d\n") / "joint")
        assert texts(corpus) == [(1, b"a", b"b"), (2, b"", b""), (3, b"c", b"d")]

    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a ||| b\n")))
        assert texts(open_corpus("-")) == [(1, b"a", b"b")]


class TestTabs:
    def test_are_recognised(self, tmp_path: Path) -> None:
        file = put(tmp_path, tsv=b"a  b\tc\n\n\tonly target\r\nonly source\t\n") / "tsv"
        corpus = open_corpus(file)
        assert texts(corpus) == [(1, b"a  b", b"c"), (2, b"", b""), (3, b"", b"only target"), (4, b"only source", b"")]
        assert group_corpora([str(file), str(file)]) == [[str(file)], [str(file)]]

    @pytest.mark.parametrize("row", [b"source\ttarget", b"en\tfr", b"Source text\ttarget_text", b"pt-BR\teng_Latn"])
    def test_names_of_columns_are_no_text(self, tmp_path: Path, row: bytes) -> None:
        corpus = open_corpus(put(tmp_path, tsv=row + b"\na b\tc\n" + row + b"\n") / "tsv")
        with pytest.raises(BrokenLine, match=r"tsv:1: .* are names of columns, not text \(delete the line"):
            texts(corpus)
        lines = corpus.texts()
        with pytest.raises(BrokenLine):
            next(lines)
        assert [line for line, *_ in lines] == [2, 3]

    @pytest.mark.parametrize("row", [b"en ||| fr", b"no\tno", b"the source\tla source", b"a\tb", b"en\tit's"])
    def test_pairs_that_are_text(self, tmp_path: Path, row: bytes) -> None:
        assert len(texts(open_corpus(put(tmp_path, tsv=row + b"\na b\tc\n") / "tsv"))) == 2

    def test_a_broken_line_among_the_first_is_named(self, tmp_path: Path) -> None:
        corpus = open_corpus(put(tmp_path, tsv=b"a\tb\na b\nc\td\n") / "tsv")
        with pytest.raises(CorpusError, match=r"tsv:2: no .*each line must be: source .* target, or source TAB target"):
            texts(corpus)

    def test_may_be_blanks_of_a_text(self, tmp_path: Path) -> None:
        put(tmp_path, t_en=b"a\tb\nc\nd e\n", t_fr=FRENCH)
        files = [str(tmp_path / "t.en"), str(tmp_path / "t.fr")]
        assert group_corpora(files) == [files]
        assert texts(open_corpus(files))[0] == (1, b"a\tb", b"la petite maison")


class TestOneFile:
    def test_comtrans(self, tmp_path: Path) -> None:
        lines = zip(ENGLISH.split(b"\n"), FRENCH.split(b"\n"), WA.split(b"\n"), strict=True)
        put(tmp_path, triples=b"".join(line + b"\n" for triple in list(lines)[:3] for line in triple))
        corpus = open_corpus(tmp_path / "triples")
        assert texts(corpus) == [(3 * line - 2, source, target) for line, source, target in TEXTS]
        assert list(corpus.links()) == GOLD

    def test_comtrans_link_out_of_range(self, tmp_path: Path) -> None:
        corpus = open_corpus(put(tmp_path, triples=b"a\nx y\n0-1\na b\nx\n0-1\n") / "triples")
        with pytest.raises(CorpusError, match="triples:6: link 0-1 is out of range for 2 source and 1 target"):
            list(corpus.links())

    def test_giza(self, tmp_path: Path) -> None:
        corpus = open_corpus(put(tmp_path, x_A3_final_gz=gzip.compress(A3)) / "x.A3.final.gz", source="en")
        assert texts(corpus) == [(1, b"small house", b"das kleine Haus")]
        assert list(corpus.links()) == [PairLinks(frozenset({(0, 1), (1, 2)}), frozenset())]
        assert languages(corpus) == ("en", None)

    @pytest.mark.parametrize(
        ("content", "what"),
        [
            (ENGLISH, "is one text"),
            (WA, "holds links, not text"),
            (b"1 1 1\n", "holds links"),
            (b"", "the corpus"),
        ],
    )
    def test_not_a_corpus(self, tmp_path: Path, content: bytes, what: str) -> None:
        with pytest.raises(CorpusError, match=rf"t.en: {what}"):
            open_corpus(put(tmp_path, t_en=content) / "t.en")


class TestTwoDirections:
    def test_symmetrised(self, tmp_path: Path) -> None:
        put(tmp_path, a=A3, b=A3_TURNED)
        corpus = open_corpus([tmp_path / "a", tmp_path / "b"])
        assert texts(corpus) == [(1, b"small house", b"das kleine Haus")]
        expected = symmetrize({(0, 1), (1, 2)}, {(0, 1), (1, 2)}, "grow-diag-final-and")
        assert list(corpus.links()) == [PairLinks(frozenset(expected), frozenset())]

    def test_the_second_is_transposed(self, tmp_path: Path) -> None:
        crossed = A3_TURNED.replace(b"kleine ({ 1 }) Haus ({ 2 })", b"kleine ({ 2 }) Haus ({ 1 })")
        put(tmp_path, a=A3, b=crossed)
        (pair,) = open_corpus([tmp_path / "a", tmp_path / "b"]).links()
        assert pair.sure == symmetrize({(0, 1), (1, 2)}, {(1, 1), (0, 2)}, "grow-diag-final-and")

    def test_same_direction(self, tmp_path: Path) -> None:
        put(tmp_path, a=A3, b=A3)
        with pytest.raises(CorpusError, match=r"b:1: is not the pair at line 1 of .*a with its sides swapped"):
            texts(open_corpus([tmp_path / "a", tmp_path / "b"]))

    def test_fewer_pairs(self, tmp_path: Path) -> None:
        put(tmp_path, a=A3 + A3, b=A3_TURNED)
        with pytest.raises(CorpusError, match=r"b:3: has fewer pairs than the other direction"):
            texts(open_corpus([tmp_path / "a", tmp_path / "b"]))


def test_grouping(tmp_path: Path) -> None:
    put(tmp_path, t_en=ENGLISH, t_fr=FRENCH, joint=b"a ||| b\n", giza=A3, turned=A3_TURNED)
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
    with pytest.raises(CorpusError, match=r"a:7: 13 source and 1 target words need more memory than there is \(split"):
        corpus.check_lengths([(6, b"w", b"w"), (7, b"w " * 13, b"w"), (8, b"w " * 20, b"w")])
