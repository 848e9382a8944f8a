"""Priors: files that eflomal and fast_align have written, and what translation models make of their counts."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from readings import refuses

from corpora import SettingError
from corpora.bitext import Bitext
from corpora.errors import BrokenLine
from corpora.files import read_lines
from corpora.normalize import Normalizer
from features.translation.expected_counts import Lexicon
from features.translation.jumps import INSIDE, WIDTHS, WINDOW
from features.translation.lexicon import variants
from features.translation.model import TranslationModel
from features.translation.pieces import cut_word
from features.translation.posteriors import Decoder
from features.translation.priors import (
    EPSILON,
    NOTHING,
    NULL,
    TABLE_COUNT,
    Priors,
    format_priors,
    format_table,
    parse_priors,
)
from features.translation.training import train_translation

NORMALIZERS = Normalizer(), Normalizer()


def counts_of(model: TranslationModel, lexicon: Lexicon) -> dict[tuple[str, str], float]:
    words = model.source_words.words(), model.target_words.words()
    rows = np.repeat(np.arange(len(words[0])), np.diff(lexicon.row_offsets))
    cells = zip(rows.tolist(), lexicon.targets.tolist(), lexicon.counts[:, 0].tolist(), strict=True)
    return {(words[0][e], words[1][f]): count for e, f, count in cells}


def test_what_eflomal_has_written_is_written_as_it_was(priors: Path) -> None:
    found = parse_priors(priors.joinpath("eflomal.priors").read_bytes().splitlines(), "P")
    assert all(found)
    assert "".join(format_priors(found)) == priors.joinpath("eflomal.priors").read_text("utf-8")
    there_and_back = found.transposed().transposed()
    assert there_and_back == found != found.transposed()


def test_a_model_has_the_counts_of_the_file_whatever_the_case(priors: Path) -> None:
    model = parse_priors(read_lines(priors / "eflomal.priors"), "P").to_model(NORMALIZERS)
    expected: dict[tuple[str, str], float] = {}
    jumps = {"HMMF": np.zeros(WIDTHS), "HMMR": np.zeros(WIDTHS)}
    for kind, *fields, count in map(str.split, priors.joinpath("eflomal.priors").read_text("utf-8").splitlines()):
        if kind == "LEX":
            words = fields[0].lower(), fields[1].lower()
            expected[words] = expected.get(words, 0.0) + int(count)
        elif kind in jumps:
            jumps[kind][int(fields[0]) + WINDOW] = int(count)
    assert counts_of(model, model.lexicons["words"]) == expected
    assert sum(expected.values()) == model.source_counts.sum() == model.target_counts.sum()
    assert list(model.lexicons) == ["words", "pieces"]
    of_pieces = model.lexicons["pieces"].counts  # each piece of a word is linked as often as the word
    pieces = [sum(len(cut_word(pair[side])) * n for pair, n in expected.items()) for side in (0, 1)]
    assert of_pieces.sum(axis=0) == pytest.approx(pieces[::-1])
    lexicon = model.lexicons["words"]
    assert lexicon.counts.sum() == lexicon.counts.shape[1] * sum(expected.values())
    for direction, made in ((lexicon.forward, jumps["HMMF"]), (lexicon.reverse, jumps["HMMR"])):
        assert direction.jumps[INSIDE : INSIDE + WIDTHS].tolist() == made.tolist()
        likely = (made + 1.0) / (made + 1.0).sum()
        assert direction.shared[INSIDE : INSIDE + WIDTHS] == pytest.approx(likely, abs=1e-6)
    model.tables  # noqa: B018 - arrays that do not fit together would be found here
    copy = TranslationModel.from_arrays(model.to_arrays(), model.source_words, model.target_words)
    assert counts_of(copy, copy.lexicons["words"]) == expected


def test_a_table_of_fast_align_has_probabilities(priors: Path) -> None:
    found = parse_priors(priors.joinpath("fast_align.table").read_bytes().splitlines(), "T")
    lines = [line.split("\t") for line in priors.joinpath("fast_align.table").read_text("utf-8").splitlines()]
    for source, target, logarithm in lines:
        count = found.links[NULL if source == EPSILON else source, target]
        assert math.log(count / TABLE_COUNT) == pytest.approx(float(logarithm))
    model = found.to_model(NORMALIZERS)
    null = sum(count for (source, _), count in found.links.items() if source == NULL)
    assert model.lexicons["words"].forward.null.sum() == pytest.approx(null, rel=1e-5)
    assert null > 0.0
    assert model.lexicons["words"].reverse.null.sum() == 0.0


def test_a_table_has_the_likely_words_of_each() -> None:
    links = {("b", "y"): 1.0, ("b", "x"): 3.0, (NULL, "y"): 2.0, ("b", NULL): 9.0, ("a", "z"): 99.0, ("a", "y"): 1.0}
    expected = [("<eps>", "y", 1.0), ("a", "z", 0.99), ("b", "x", 0.75)]  # 1/4 is below (3/4)^4
    rows = [line.rstrip("\n").split("\t") for line in format_table(links)]
    assert [(e, f) for e, f, _ in rows] == [(e, f) for e, f, _ in expected]
    assert len([*format_table(links, beam=-1000.0)]) == 5
    assert [float(row[2]) for row in rows] == pytest.approx([math.log(p) for *_, p in expected], rel=1e-5)


def test_counts_of_a_model_come_back(priors: Path) -> None:
    model = parse_priors(read_lines(priors / "eflomal.priors"), "P").to_model(NORMALIZERS)
    written = Priors.from_model(model)
    assert not written.source
    again = parse_priors((line.rstrip("\n").encode() for line in format_priors(written)), "P")
    assert again == written
    assert Priors.from_model(again.to_model(NORMALIZERS)) == written
    nothing = NOTHING.to_model(NORMALIZERS)
    assert len(nothing.source_words) == 0
    assert list(format_priors(Priors.from_model(nothing))) == []


@pytest.mark.parametrize(
    "line",
    ["", "LEX\ta\tb", "LEX\ta\tb\tx", "LEX\ta\tb\t-1", "LEX\ta\tb\tnan", "LEX\ta\tb\t1\t1", "LEX a b 1", "HMMF\ta\t1",
     "HMMF\t1\tinf", "FERF\ta\tb\t1", "OTHER\ta\tb\t1", "a\tb\t0.5", "a\tb\tnan", "a\tb", "LEX\t\udcff\tb\t1",
     "LEX\ta\tb\t1_0", "HMMF\t١\t1", "a\tb\t-١"],
)  # fmt: skip
def test_a_broken_line_is_named(line: str) -> None:
    lines = [b"LEX\ta\tb\t1.5", line.encode("utf-8", "surrogateescape")]
    with refuses(r"^P:2: .* is no line of priors", BrokenLine) as raised:
        parse_priors(lines, "P")
    assert raised.value.line == 2
    assert parse_priors(lines[:1], "P").links == {("a", "b"): 1.5}


def likeliest(model: TranslationModel, text: Bitext) -> list[int]:
    found = Decoder(text, model).posteriors(0, 1)
    return found.soft.reshape(found.shapes[0]).argmax(axis=1).tolist()


def test_priors_decide_where_the_text_does_not(make_bitext: Callable[..., Bitext]) -> None:
    text = make_bitext([("this that".split(), "un deux".split())] * 4)
    for this, that, expected in (("deux", "un", [1, 0]), ("un", "deux", [0, 1])):
        priors = NOTHING._replace(links={("This", this): 30.0, ("that", that): 30.0}).to_model(NORMALIZERS)
        assert likeliest(train_translation(text, priors=priors), text) == expected


def test_no_counts_change_nothing(make_bitext: Callable[..., Bitext]) -> None:
    text = make_bitext([("this that".split(), "un deux trois".split()), (["that"], ["trois"])] * 20)
    one, other = (train_translation(text, priors=priors) for priors in (None, NOTHING.to_model(NORMALIZERS)))
    arrays = other.to_arrays()
    assert all(np.array_equal(array, arrays[name]) for name, array in one.to_arrays().items())


def test_priors_are_added_to_what_is_counted(make_bitext: Callable[..., Bitext]) -> None:
    priors = NOTHING._replace(
        links={("this", "un"): 5.0, ("only", "here"): 7.0, (NULL, "deux"): 2.0, ("lost", NULL): 3.0}
    )
    text = make_bitext([(["this"], ["un"])] * 4)
    model = train_translation(text, priors=priors.to_model(NORMALIZERS), lexicons=["words"])
    found = counts_of(model, model.lexicons["words"])
    assert found["only", "here"] == 7.0
    assert 5.0 < found["this", "un"] <= 9.0 + 1e-6
    null = dict(zip(model.target_words.words(), model.lexicons["words"].forward.null.tolist(), strict=True))
    assert null["deux"] == 2.0
    null = dict(zip(model.source_words.words(), model.lexicons["words"].reverse.null.tolist(), strict=True))
    assert null["lost"] == 3.0
    assert list(model.lexicons) == variants(["words"])


@pytest.mark.parametrize("kind", ["LEX\ta\tb", "HMMF\t1", "HMMR\t1", "FERF\ta\t1", "FERR\ta\t1"])
@pytest.mark.parametrize("counts", [["1e308"], ["6e11", "6e11"], ["-1"], ["nan"]])
def test_counts_that_no_sum_of_is_finite(kind: str, counts: list[str]) -> None:
    lines = [f"{kind}\t{count}".encode() for count in counts]
    if kind[:3] == "HMM" and len(counts) == 2:  # of which the last one holds, as in eflomal
        assert parse_priors(lines, "P") == parse_priors(lines[1:], "P")
        return
    with refuses(f"^P:{len(lines)}: .* is no line of priors .*at most 1e12", BrokenLine):
        parse_priors(lines, "P")


@pytest.mark.parametrize("count", [1e308, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("kind", ["links", "forward"])
def test_a_model_is_made_of_counts(kind: str, count: float) -> None:
    priors = NOTHING._replace(**{kind: {("a", "b") if kind == "links" else 1: count}})
    with refuses("a count of priors is not between 0 and 1e\\+12", SettingError):
        priors.to_model(NORMALIZERS)
