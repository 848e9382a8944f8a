"""Two texts side by side: verses over several lines, and sentences of CoNLL files as lines."""

import warnings
from pathlib import Path

import pytest
from commands import refused, run
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import leaves_out, refuses

from corpora.left_out import LeftOut
from corpora.parallel import lines_of
from corpora.readers import group_corpora, open_corpus

CONLLU = """# newdoc id = d
# sent_id = 1
# text = Vai à casa|||.
1\tVai\tir\tVERB\t_\t_\t0\troot\t_\t_
2-3\tà\t_\t_\t_\t_\t_\t_\t_\t_
2\ta\ta\tADP\t_\t_\t4\tcase\t_\t_
3\ta\to\tDET\t_\t_\t4\tdet\t_\t_
4\tcasa\tcasa\tNOUN\t_\t_\t1\tobl\t_\t_
5\t|||\t|||\tPUNCT\t_\t_\t1\tpunct\t_\t_

0.1\tela\tela\tPRON\t_\t_\t_\t_\t2:nsubj\t_
1\tcinco mil\t_\tNUM\t_\t_\t0\troot\t_\t_
"""
WORDS = [b"Vai a a casa |||", "cinco\u00a0mil".encode()]
TAGS = "-DOCSTART- -X- O\n\nU.N. I-ORG\nofficial O\n\nEkeus B-PER\n"

SIDE = st.sampled_from(["<range>", " <range> ", "a", "b c", "", "<range> a", "<Range>"])


def joined(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The rule, as it is said: what stands beside a range goes to the line before the ranges."""
    found: list[list[list[str]]] = []
    verse: list[list[str]] = [[], []]
    for number, sides in enumerate(lines):
        if not number or "<range>" not in [side.strip() for side in sides]:
            verse = [[], []]
            found.append(verse)
        else:
            found.append([[], []])
        for parts, side in zip(verse, sides, strict=True):
            parts += [] if side.strip() == "<range>" else side.split()
    return [(" ".join(one), " ".join(other)) for one, other in found]


@settings(max_examples=60)
@given(st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=9), st.integers(1, 4))
def test_ranges_are_empty_and_what_is_beside_them_is_in_the_line_before(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, str]], shards: int
) -> None:
    folder = tmp_path_factory.mktemp("verses")
    for place, name in enumerate(("v.en", "v.fr")):
        (folder / name).write_text("".join(f"{sides[place]}\r\n" for sides in lines))
    corpus = open_corpus([folder / "v.en", folder / "v.fr"])
    with warnings.catch_warnings(record=True, category=LeftOut, action="always") as caught:
        found = list(corpus.texts())
    texts = [(" ".join(one.decode().split()), " ".join(other.decode().split())) for _, one, other in found]
    assert [number for number, _, _ in found] == [*range(1, len(lines) + 1)]
    assert texts == joined(lines)
    ranges = sum(1 for sides in lines if "<range>" in [side.strip() for side in sides])
    reason = "lines of <range>, whose verses are in the line before"
    assert [one.message.counts for one in caught] == [{reason: ranges}] * bool(ranges)  # type: ignore[union-attr]
    with warnings.catch_warnings(category=LeftOut, action="ignore"):
        assert [text for n in range(shards) for text in corpus.shard(n + 1, shards).texts()] == found


def test_pairs_before_the_end_of_the_shorter_text_come_before_the_error(tmp_path: Path) -> None:
    (tmp_path / "v.en").write_text("a\n<range>\n")
    (tmp_path / "v.fr").write_text("b\nc\nd\n")
    texts = open_corpus([tmp_path / "v.en", tmp_path / "v.fr"]).texts()
    assert [next(texts), next(texts)] == [(1, b"a", b"b c"), (2, b"", b"")]
    with refuses(r"v\.en:2: ends here"):
        next(texts)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences_of_conll_are_lines(tmp_path: Path, end: str) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU, "utf-8", newline=end)
    (tmp_path / "a.en").write_text("Go to the house |||\nfive thousand\n")
    (tmp_path / "b.conll").write_text(TAGS, newline=end)
    assert list(lines_of(tmp_path / "a.conllu")) == WORDS
    assert list(lines_of(tmp_path / "a.conllu", 1)) == WORDS[1:]
    assert list(lines_of(tmp_path / "b.conll")) == [b"U.N. official", b"Ekeus"]
    corpus = open_corpus([tmp_path / "a.conllu", tmp_path / "a.en"])
    expected = [(1, WORDS[0], b"Go to the house |||"), (2, WORDS[1], b"five thousand")]
    assert list(corpus.texts()) == [text for n in (1, 2) for text in corpus.shard(n, 2).texts()] == expected
    both = [text[1:] for text in open_corpus([tmp_path / "b.conll", tmp_path / "a.conllu"]).texts()]
    assert both == [(b"U.N. official", WORDS[0]), (b"Ekeus", WORDS[1])]
    (tmp_path / "c.en").write_text("one\n")
    names = [str(tmp_path / name) for name in ("a.conllu", "c.en", "b.conll", "a.conllu")]
    assert group_corpora(names) == [names[:2], names[2:]]
    with refuses("is one text, without its translation"):
        open_corpus(tmp_path / "a.conllu")
    (tmp_path / "a.en").write_text("one\n")
    with refuses("has 1 more line"):
        list(corpus.texts())


@pytest.mark.parametrize(
    "text", ["vitamin B-12\n", "by E-mail\nin a U-boat\n", "group O\nthe blood group O\n", "O\nO\n", "# O\n"]
)
def test_text_that_looks_like_columns_is_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "t").write_text(text)
    assert b"\n".join(lines_of(tmp_path / "t")) == text.encode().rstrip()


def test_the_words_of_conll_are_written(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, "utf-8")
    run("convert", path, tmp_path / "words.pt", "-q")
    assert (tmp_path / "words.pt").read_bytes().splitlines() == WORDS
    assert run("convert", path, "-", "-q").stdout_bytes.splitlines() == WORDS
    assert "--transpose has no effect" in run("convert", path, "-", "--transpose", code=2).stderr
    path.write_text(CONLLU.replace("4\tcasa", "4\t"), "utf-8")
    assert "has no word" in refused("convert", path, tmp_path / "other", line=8)
    assert not (tmp_path / "other").exists()


def test_comments_of_sentences_without_words_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("# newdoc\n\n# sent_id = 0\n# text =\n\n" + CONLLU, "utf-8")
    with leaves_out("left out: 1 comments of sentences without words"):
        assert list(lines_of(path)) == WORDS
