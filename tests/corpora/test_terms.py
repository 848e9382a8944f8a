"""Terms of a text: phrases that are consistent with links, their ranks and inflections, and the check of given ones."""

import math
import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora import terms
from corpora.terms import deviations, find_terms, function_words, spans

LINKS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)))


@given(LINKS, st.integers(1, 6))
def test_spans_are_those_that_no_link_leaves(links: set[tuple[int, int]], longest: int) -> None:
    """By the definition of phrase extraction, with linked words at all edges."""
    expected = set()
    for a, c in product(range(6), repeat=2):
        for b, d in product(range(a + 1, min(a + longest, 6) + 1), range(c + 1, min(c + longest, 6) + 1)):
            inside = {(j, k) for j, k in links if a <= j < b and c <= k < d}
            crossing = any((a <= j < b) != (c <= k < d) for j, k in links)
            rows, columns = {j for j, _ in inside}, {k for _, k in inside}
            if not crossing and {a, b - 1} <= rows and {c, d - 1} <= columns:
                expected.add((a, b, c, d))
    found = list(spans((6, 6), links, longest))
    assert len(found) == len({*found})
    assert {*found} == expected


def made_text(seed: int = 1) -> list[tuple[list[str], list[str], list[tuple[int, int]]]]:
    """300 pairs, word by word: function words everywhere, and a term of two words in one part of the text."""
    rng = random.Random(seed)
    pairs = []
    for number in range(300):
        source = [f"the{rng.randrange(3)}" if n % 2 else f"word{rng.randrange(40):02}" for n in range(10)]
        target = [f"le{rng.randrange(3)}" if word[0] == "t" else f"mot{word[4:]}" for word in source]
        if 100 <= number < 125:
            source[4:6] = ["White", "Papers" if number % 5 == 0 else "Paper"]
            target[4:6] = ["livre", "blancs" if number % 5 == 0 else "blanc"]
        pairs.append((source, target, [(n, n) for n in range(10)]))
    return pairs


def test_terms_of_a_text() -> None:
    pairs = made_text()
    source, target = function_words(pairs)
    assert {f"the{n}" for n in range(3)} <= source
    assert {f"le{n}" for n in range(3)} <= target
    best, *rest = find_terms(lambda: pairs)
    assert (best.source, best.target, best.occurrences) == ("White Paper", "livre blanc", 25)
    assert best.forms == (("White Papers", "livre blancs"),)
    assert [number for number, _ in best.places] == [101, 102, 103, 104, 105]
    assert {span for _, span in best.places} == {(4, 6, 4, 6)}
    assert all(term.occurrences >= 3 for term in rest)
    assert [term.score for term in rest] == sorted((term.score for term in rest), reverse=True)
    edges = {side.split()[place] for term in rest for side in (term.source, term.target) for place in (0, -1)}
    assert not edges & (source | target), "no term begins or ends with a function word"
    assert best.source not in {term.source for term in find_terms(lambda: pairs, stop={"white"})}
    assert {len(term.source.split()) for term in find_terms(lambda: pairs, longest=1)} == {1}
    assert not find_terms(lambda: pairs, least=1000)
    assert not find_terms(list)


def test_scores_are_by_the_formula() -> None:
    """C-value without nested pairs, times residual IDF over blocks of 25 lines, times both probabilities."""
    pairs = made_text()
    counts, blocks = Counter[str](), dict[str, set[int]]()
    for number, (source, target, _) in enumerate(pairs, 1):
        for word, other in zip(source, target, strict=True):
            if word.startswith("word"):
                counts[word] += 1
                blocks.setdefault(word, set()).add(number // 25)
                assert other == f"mot{word[4:]}"
    terms = {term.source: term for term in find_terms(lambda: pairs, longest=1)}
    assert len(terms) > 10
    for word, term in terms.items():
        if word.startswith("word"):
            assert term.occurrences == counts[word]
            idf = math.log2(12 * (1 - math.exp(-counts[word] / 12)) / len(blocks[word]))
            assert term.score == pytest.approx(math.log2(1.5) * counts[word] * (0.3 + max(idf, 0)))


@pytest.mark.parametrize("akin", [True, False])
def test_inflections_are_gathered(akin: bool) -> None:
    alike = "house houses, authority authorities, européen européenne, aid aids"
    others = "president presidency, directive direction, market march, prodi produit, 東京 東方, in inn"
    for one, other in map(str.split, (alike if akin else others).split(",")):
        check_inflections(one, other, akin)


def check_inflections(one: str, other: str, akin: bool) -> None:
    filler = [([f"the{n}"], [f"le{n}"], [(0, 0)]) for n in range(20)] * 400
    pairs = [*filler, *[([word], [f"xx{word}"], [(0, 0)]) for word in [one] * 4 + [other] * 3]]
    found = {term.source: term.forms for term in find_terms(lambda: pairs)}
    assert found[one] == (((other, f"xx{other}"),) if akin else ())
    assert (other in found) != akin


def test_given_terms_are_checked() -> None:
    glossary = [
        (["State", "aid"], ["aides", "d'", "État"]),
        (["state"], ["État"]),
        (["aid"], ["aide"]),
        (["aid"], ["assistance"]),
    ]
    pairs = [
        ("the state aids".split(), "les aides d' état".split(), []),
        ("State aid to a state".split(), "subventions à un État".split(), [(0, 0), (1, 0), (4, 3)]),
        ("aid and states".split(), "assistances et pays".split(), [(0, 0), (2, 2)]),
    ]
    found = [(one.number, one.term, one.expected, one.found) for one in deviations(pairs, glossary)]
    assert found == [(2, "State aid", ("aides d' État",), "subventions"), (3, "states", ("État",), "pays")]
    apart = [("they sleep".split(), "ils dorment".split(), [])] + [("the cars".split(), "les autos".split(), [])] * 3
    found = [(one.number, one.term) for one in deviations(apart, [(["they"], ["ils"]), (["car"], ["auto"])])]
    assert found == []
    found = [(one.number, one.term) for one in deviations([*apart, (["cars"], ["cars"], [])], [(["car"], ["auto"])])]
    assert found == [(5, "cars")]


STEMS = st.sampled_from(["haus", "auto", "comp", "par", "president", "s", "ab", "abc", "prod"])
FORMS = st.tuples(STEMS, st.sampled_from(["", "s", "e", "es", "er", "en", "a", "al", "als", "ation"])).map("".join)
TEXTS = st.lists(
    st.tuples(st.lists(FORMS, min_size=2, max_size=4), st.lists(FORMS, min_size=2, max_size=4)), max_size=40
)


@given(TEXTS, st.lists(st.tuples(st.lists(FORMS, min_size=1, max_size=2), st.lists(FORMS, min_size=1, max_size=1))))
def test_what_begins_alike_is_found_as_by_comparing_each_with_each(
    texts: list[tuple[list[str], list[str]]], glossary: list[tuple[list[str], list[str]]]
) -> None:
    pairs = [(source, target, [(n, n) for n in range(2)]) for source, target in texts]
    indexed = find_terms(lambda: pairs, least=1), [*deviations(pairs, glossary)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "_FEW", 10**9)
        patch.setattr(terms._Index, "near", lambda self, word: [sorted({n for of in self._begun.values() for n in of})])
        assert (find_terms(lambda: pairs, least=1), [*deviations(pairs, glossary)]) == indexed


def test_many_words_that_begin_alike_are_seldom_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of parts, say: of n phrases not n times n."""
    compared, akin = [0], terms._akin

    def counting(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
        compared[0] += 1
        return akin(one, other)

    monkeypatch.setattr(terms, "_akin", counting)
    pairs = [([f"SKU{n:05}", "fits"], [f"ART{n:05}", "passt"], [(0, 0), (1, 1)]) for n in range(2000)]
    find_terms(lambda: pairs, least=1)
    assert compared[0] < 10 * len(pairs)
    compared[0] = 0
    assert list(deviations(pairs, [(pair[0][:1], ["x"]) for pair in pairs[::2]]))
    assert compared[0] < 10 * len(pairs)
