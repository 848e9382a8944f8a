"""A bitext holds the words of its files, pair by pair; what is broken is told with its line, and what looks odd."""

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import refuses

from aligner.training.inputs import read_labelled
from corpora.bitext import FEWEST_LINES, PAIRS_AT_ONCE, Bitext, BitextBuilder, Text, Vocabulary, oddities, read_bitext
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from corpora.strict_json import parse_json

FOLDED = Normalizer()


def load(*prefixes: Path, normalizer: Normalizer = FOLDED) -> Bitext:
    return read_bitext([open_corpus(prefix) for prefix in prefixes], normalizer, normalizer)


def write(folder: Path, source: bytes, target: bytes) -> Path:
    (folder / "t.en").write_bytes(source)
    (folder / "t.fr").write_bytes(target)
    return folder / "t"


BLANKS = [" ", "\t", "\x0b", "\x0c", "\r", "\n", "  "]
PIECES = st.sampled_from([*BLANKS, "a", "b", "ab", "é", "\u00a0", "\u2028", "\x1c", "\x85"]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=3
)


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=8))
def test_lines_are_split_as_bytes_are_and_words_numbered_as_they_come(lines: list[str]) -> None:
    builder, numbers = BitextBuilder(FOLDED, FOLDED), dict[str, int]()
    encoded = [line.encode() for line in lines]
    builder.add_lines(encoded, encoded)
    words = [[FOLDED.word(token.decode()) for token in line.split()] for line in encoded]
    text = builder.bitext().source
    assert text.ids.dtype == np.int32
    assert text.ids.tolist() == [numbers.setdefault(word, len(numbers)) for line in words for word in line]
    assert text.lengths.tolist() == [len(line) for line in words]
    assert text.vocabulary.words == list(numbers)


@given(st.lists(st.lists(st.text(st.characters(), max_size=4), max_size=20), max_size=4))
def test_tokens_are_taken_whole(sentences: list[list[str]]) -> None:
    """Blanks, ends of lines, surrogates and nothing at all included."""
    builder = BitextBuilder(FOLDED, FOLDED)
    for tokens in sentences:
        builder.add_tokens(tokens, tokens)
    pairs = [pair.source_words for pair in builder.bitext()]
    assert pairs == [tuple(map(FOLDED.word, tokens)) for tokens in sentences]


def test_a_bitext_may_be_asked_for_twice() -> None:
    builder = BitextBuilder(FOLDED, FOLDED)
    builder.add_lines([b"A a b"], [b"c"])
    for bitext in (builder.bitext(), builder.bitext()):
        assert bitext[0].source_words == ("a", "a", "b")
    with pytest.raises(BufferError):
        builder.add_lines([b"d"], [b"e"])
    assert bitext[0].source_words == ("a", "a", "b")


def test_ids_are_views(tmp_path: Path) -> None:
    bitext = load(write(tmp_path, b"a b\nc\n", b"d\ne f\n"))
    assert np.shares_memory(bitext[1].target, bitext.target.ids)
    for index in (2, -3):
        with pytest.raises(IndexError):
            bitext[index]


def test_several_corpora_make_one_bitext(tmp_path: Path) -> None:
    for name, pack in (("one", gzip.compress), ("two", lzma.compress)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, pack(b"a b\n" + name.encode()), pack(b"c\nd"))
    both = load(tmp_path / "one" / "t", tmp_path / "two" / "t")
    assert [pair.source_words for pair in both] == [("a", "b"), ("one",), ("a", "b"), ("two",)]
    assert (both.source.language, both.target.language) == ("en", "fr")


def test_corpora_in_opposite_directions(tmp_path: Path) -> None:
    prefix = write(tmp_path, b"a\n", b"b\n")
    corpora = [open_corpus(prefix), open_corpus(prefix, source="fr")]
    with refuses(r"t: is fr-en, but before it is en-fr"):
        read_bitext(corpora, FOLDED, FOLDED)


ABCD, LATIN = b"a\nb\nc\nd\n", b"a\nb b\xe9\nc\n"


@pytest.mark.parametrize("tokenize", [False, True])
@pytest.mark.parametrize(
    ("source", "target", "what"),
    [
        (b"", b"", "t.en: the corpus is empty"),
        (b"\xef\xbb\xbf", b"\xef\xbb\xbf", "t.en: the corpus is empty"),
        (ABCD[:6], ABCD, "t.en:3: ends here, but .*t.fr has 1 more line "),
        (ABCD[:2], ABCD, "t.en:1: ends here, but .*t.fr has 3 more lines "),
        (ABCD, ABCD[:6], "t.fr:3: ends here, but .*t.en has 1 more line "),
        (ABCD, ABCD[:2], "t.fr:1: ends here, but .*t.en has 3 more lines "),
        (LATIN, b"a\nb\nc\n", "t.en:2: not valid UTF-8"),
        (b"a\nb\nc\n", LATIN, "t.fr:2: not valid UTF-8"),
        (b"a\nb\n0-0\na\nb\xe9\n0-0\n", None, "triples:5: not valid UTF-8"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(
    tmp_path: Path, source: bytes, target: bytes | None, what: str, tokenize: bool
) -> None:
    path = write(tmp_path, source, target) if target is not None else tmp_path / "triples"
    if target is None:
        path.write_bytes(source)
    with refuses(what):
        load(path, normalizer=Normalizer(tokenize=tokenize))


def test_tokenising_and_stemming(tmp_path: Path) -> None:
    prefix = write(tmp_path, b"Dogs (running).\n", b"chiens\n")
    bitext = load(prefix, normalizer=Normalizer(tokenize=True, stem="en"))
    assert bitext[0].source_words == ("dog", "(", "run", ")", ".")


def test_progress(tmp_path: Path) -> None:
    n_pairs = 2 * PAIRS_AT_ONCE + 5
    prefix = write(tmp_path, b"a b\n" * n_pairs, b"c d\n" * n_pairs)
    calls: list[int] = []
    read_bitext([open_corpus(prefix)], FOLDED, FOLDED, calls.append)
    assert calls == [PAIRS_AT_ONCE, 2 * PAIRS_AT_ONCE, n_pairs]
    calls.clear()
    read_bitext([open_corpus(prefix)] * 2, FOLDED, FOLDED, calls.append)
    assert calls == sorted(calls)
    assert calls[-1] == 2 * n_pairs


def test_fingerprint_depends_on_words_boundaries_and_languages_only(tmp_path: Path) -> None:
    prefix = write(tmp_path, b"a b\nb c\n", b"d\ne d\n")
    bitext = load(prefix)
    renumbered = np.array([2, 0, 1], dtype=np.int32)  # a is 2, b is 0, c is 1
    source = Text(renumbered[bitext.source.ids], bitext.source.offsets, Vocabulary(["b", "c", "a"]), "en")
    same = [load(prefix), Bitext(source, bitext.target)]
    assert {b.fingerprint() for b in same} == {bitext.fingerprint()}
    others = [
        load(write(tmp_path, b"a b\nb d\n", b"d\ne d\n")),
        load(write(tmp_path, b"a\nb b c\n", b"d\ne d\n")),
        load(write(tmp_path, b"b a\nb c\n", b"d\ne d\n")),
        load(write(tmp_path, b"d\ne d\n", b"a b\nb c\n")),
        read_bitext([open_corpus([tmp_path / "t.en", tmp_path / "t.fr"], source="de")], FOLDED, FOLDED),
    ]
    assert len({b.fingerprint() for b in [bitext, *others]}) == 1 + len(others)


def test_sides_of_unequal_length() -> None:
    texts = [Text(np.zeros(0, np.int32), np.zeros(n + 1, np.int64), Vocabulary([]), None) for n in (1, 2)]
    with pytest.raises(ValueError, match="1 source and 2 target sentences"):
        Bitext(*texts)


NORMALIZERS = Normalizer(), Normalizer()
GOOD = [(["the", "old", f"house{n}"], ["la", f"maison{n}"]) for n in range(FEWEST_LINES)]


def told(pairs: list[tuple[list[str], list[str]]]) -> list[str]:
    return list(oddities(BitextBuilder(*NORMALIZERS).add_pairs(pairs).bitext()))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(source, []) for source, _ in GOOD], "100% of the lines are empty on a side"),
        ([([], target) for _, target in GOOD] + GOOD[1:], "51% of the lines are empty"),
        ([([source[2]], target) for source, target in GOOD], "the source has 1.0 words a line (put spaces"),
        ([(source, ["\u6211\u5728\u5bb6"]) for source, _ in GOOD], "the target has 1.0 words a line (training"),
        ([(source, target * 151) for source, target in GOOD], "the target has 302 words a line"),
        ([(source, [*target, "ici."]) for source, target in GOOD], "the target has words with their full stops"),
        ([(source, ["la", "\u2581", *target]) for source, target in GOOD], "the target has \u2581 for spaces"),
        ([(source, source) for source, _ in GOOD], "100% of the lines are the same"),
        (GOOD[:9] + [(target, target) for _, target in GOOD[9:]], "55% of the lines are the same"),
    ],
)
def test_a_line_says_what_is_odd(pairs: list[tuple[list[str], list[str]]], message: str) -> None:
    (found,) = told(pairs)
    assert found.startswith(message)
    assert not told(pairs[:9])


def test_of_good_text_nothing_is_told() -> None:
    assert not told(GOOD)
    assert not told([])
    assert not told(GOOD + [(source, source) for source, _ in GOOD[1:]])


def test_reading_warns_by_name(tmp_path: Path) -> None:
    for name, line in {"t.en": "a b", "t.fr": "a b", "u.en": "a b", "u.fr": "c d"}.items():
        (tmp_path / name).write_text(f"{line}\n" * FEWEST_LINES)
    (tmp_path / "u.wa").write_text("0-0\n" * 9 + "\n" * 11)
    with pytest.warns(UserWarning, match=r"/t: 100% of the lines are the same") as found:
        read_bitext([open_corpus(tmp_path / "t")], *NORMALIZERS)
    assert len(found) == 1
    with pytest.warns(UserWarning, match=r"/u: 11 of 20 labelled pairs have no link") as found:
        read_labelled([open_corpus(tmp_path / "u")], NORMALIZERS)
    assert len(found) == 1


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, "NaN", "[-Infinity]", "", b"\xff", "{", "1 2"])
def test_what_is_no_json(data: bytes | str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(data)
    assert parse_json(b'{"a": [1, 0.5, "\xc3\xa9", null]}') == {"a": [1, 0.5, "é", None]}


def test_a_text_without_other_words_is_the_same_text(tmp_path: Path) -> None:
    whole = load(write(tmp_path, b"a b\nc a\n", b"d\ne f\n"))
    part = whole.source.take(np.array([1]))
    assert len(part.vocabulary) == 3
    own = part.without_other_words()
    assert [own.vocabulary.words[word] for word in own.sentence(0)] == ["c", "a"]
    assert sorted(own.vocabulary.words) == ["a", "c"]
