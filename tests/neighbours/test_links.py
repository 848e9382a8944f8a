"""Links between us and NLTK, SIL's machine.py and OpusTrainer."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from neighbours.environments import ODD, environment

import aligner
from corpora.errors import CorpusError
from corpora.files import read_lines
from corpora.formats.comtrans import write_comtrans
from corpora.formats.pharaoh import format_links, parse_links
from corpora.links import Link, Links, PairLinks, WordPair
from corpora.symmetrize import symmetrize

pytestmark = pytest.mark.nightly

NLTK, MACHINE, OPUSTRAINER = "nltk==3.10.4", "sil-machine==1.9.2", "opustrainer==0.5"
GALECHURCH = "galechurch==0.1.0"
CASES = 1000

Case = tuple[int, int, frozenset[Link], frozenset[Link]]


def draw(seed: int, most: int = 12) -> list[Case]:
    """Lengths of random pairs, from 1 on, and two sets of links of each."""
    rng, cases = random.Random(seed), list[Case]()
    for _ in range(CASES):
        J, K, share = rng.randint(1, most), rng.randint(1, most), rng.random() * 0.6
        one, other = (
            frozenset((j, k) for j in range(J) for k in range(K) if rng.random() < share) for _ in ("one", "other")
        )
        cases.append((J, K, one, other))
    return cases


def lines_of(cases: Sequence[Case]) -> list[tuple[int, int, str, str]]:
    return [(J, K, *(format_links(PairLinks(links)) for links in both)) for J, K, *both in cases]


def links_of(line: str) -> frozenset[Link]:
    return parse_links(line, "answer", 1).sure


def test_comtrans_of_nltk() -> None:
    """Nor texts that begin with = or i-j: a pair is what stands before a line that begins with i-j."""
    rng, pairs = random.Random(1), list[tuple[list[str], list[str], PairLinks]]()
    for J, K, links, _ in draw(1):
        source, target = rng.choices(ODD, k=J), rng.choices(ODD, k=K)
        if links and not any(re.match("=|[0-9]+-[0-9]", side[0]) for side in (source, target)):
            pairs.append((source, target, PairLinks(links)))
    script = """
import json, pathlib, sys, tempfile
import nltk.data
from nltk.corpus.reader import AlignedCorpusReader
with tempfile.TemporaryDirectory() as folder:
    nltk.data.path.append(folder)  # it refuses others
    found = []
    for number, text in enumerate(json.load(sys.stdin)):
        pathlib.Path(folder, f"{number}.txt").write_text(text, newline="")
        read = AlignedCorpusReader(folder, f"{number}.txt", encoding="utf-8").aligned_sents()
        try:
            found.append([[one.words, one.mots, str(one.alignment)] for one in read])
        except ValueError as error:
            found.append(str(error))
    print(json.dumps(found))
"""
    texts = [comtrans(pairs), comtrans([(["a"], ["b"], PairLinks(frozenset())), (["c"], ["d"], pairs[0][2])])]
    read, shifted = environment("nltk", NLTK).ask(script, texts)
    assert [(source, target, links_of(line)) for source, target, line in read] == [
        (source, target, links.sure) for source, target, links in pairs
    ]
    assert "not enough values" in shifted  # it takes the next source for links


def comtrans(pairs: Sequence[WordPair]) -> str:
    written = io.BytesIO()
    write_comtrans(written, pairs)
    return written.getvalue().decode()


def test_aer_of_nltk() -> None:
    """Of what both can have: gold with possible links contains the sure ones, and some link is there."""
    cases = [case for case in draw(2) if case[2] | case[3]]
    possible = [frozenset(random.Random(n).sample(sorted(case[3]), len(case[3]) // 2)) for n, case in enumerate(cases)]
    script = """
import json, sys
from nltk.translate import Alignment
from nltk.translate.metrics import alignment_error_rate
rows = [[Alignment.fromstring(line) for line in case] for case in json.load(sys.stdin)]
print(json.dumps([alignment_error_rate(sure, found, every) for sure, every, found in rows]))
"""
    rows = [
        [format_links(PairLinks(links)) for links in (sure, sure | extra, found)]
        for (_, _, sure, found), extra in zip(cases, possible, strict=True)
    ]
    answers = environment("nltk", NLTK).ask(script, rows)
    for (_, _, sure, found), extra, answer in zip(cases, possible, answers, strict=True):
        gold = PairLinks(sure, extra - sure)
        assert aligner.evaluate(Links.from_pairs([gold]), [found]).aer == pytest.approx(answer, abs=1e-12)


def test_gdfa_of_nltk() -> None:
    cases = draw(3)
    script = """
import json, sys
from nltk.translate.gdfa import grow_diag_final_and
rows = json.load(sys.stdin)
print(json.dumps([" ".join(f"{i}-{j}" for i, j in grow_diag_final_and(*row)) for row in rows]))
"""
    answers = environment("nltk", NLTK).ask(script, lines_of(cases))
    different = 0
    for (_, _, forward, reverse), answer in zip(cases, answers, strict=True):
        assert links_of(answer) == symmetrize(forward, reverse, "union")
        different += links_of(answer) != symmetrize(forward, reverse, "grow-diag-final-and")
    assert different > CASES / 2


def test_heuristics_of_machine() -> None:
    """Its matrix of a pair, too, and how it writes and reads links."""
    cases = draw(4)
    script = """
import json, sys
from machine.corpora import AlignedWordPair
from machine.translation import SymmetrizationHeuristic, WordAlignmentMatrix
def matrix(rows, columns, line):
    return WordAlignmentMatrix.from_word_pairs(rows, columns, AlignedWordPair.from_string(line))
found = []
for rows, columns, forward, reverse in json.load(sys.stdin):
    answers = {"as it is": str(matrix(rows, columns, forward))}
    for heuristic in SymmetrizationHeuristic:
        one = matrix(rows, columns, forward)
        one.symmetrize_with(matrix(rows, columns, reverse), heuristic)
        answers[heuristic.name] = " ".join(map(str, one.to_aligned_word_pairs()))
    found.append(answers)
print(json.dumps(found))
"""
    ours = {
        "UNION": "union",
        "INTERSECTION": "intersection",
        "GROW_DIAG": "gd",
        "GROW_DIAG_FINAL": "gdf",
        "GROW_DIAG_FINAL_AND": "gdfa",
    }
    different = 0
    for (_, _, forward, reverse), answers in zip(
        cases, environment("machine", MACHINE).ask(script, lines_of(cases)), strict=True
    ):
        assert answers["as it is"] == answers["NONE"] == format_links(PairLinks(forward))
        for name, method in ours.items():
            answer = links_of(answers[name])
            assert answer == symmetrize(forward, reverse, method, as_atools=True), (name, forward, reverse)
            different += answer != symmetrize(forward, reverse, method)
    assert different > 0


def test_lines_of_machine(tmp_path: Path) -> None:
    """A carriage return alone ends a line there, which shifts all lines after it; all else does not, as by ours."""
    rng, texts = random.Random(7), list[str]()
    for number in range(CASES // 4):
        ends = ["\n", "\r\n", "\u2028", "\x0b", "\x0c", "\x1c", " "] + ["\r"] * (number % 2)
        texts.append("".join(rng.choice("ab") + rng.choice(ends) for _ in range(9)) + "\n")
    script = """
import json, pathlib, sys
from machine.corpora import TextFileTextCorpus
folder, texts = json.load(sys.stdin)
found = []
for number, text in enumerate(texts):
    path = pathlib.Path(folder, f"{number}.txt")
    path.write_text(text, newline="")
    found.append([row.text for row in TextFileTextCorpus(str(path)).get_rows()])
print(json.dumps(found))
"""
    answers = environment("machine", MACHINE).ask(script, [str(tmp_path), texts])
    for number, (text, rows) in enumerate(zip(texts, answers, strict=True)):
        assert rows == [line.strip() for line in re.split("\r\n|\r|\n", text)[:-1]]
        ours = [*read_lines(tmp_path / f"{number}.txt")]
        assert len(ours) == text.count("\n")
        assert len(rows) == len(ours) or "\r" in text.replace("\r\n", "")


def test_tags_of_opustrainer() -> None:
    """Its Tags modifier expects links sorted by source, as ours are: shuffled ones give words the tags of others."""
    cases, rng = draw(5), random.Random(5)
    rows = []
    for J, K, links, _ in cases:
        line = format_links(PairLinks(links))
        texts = [" ".join(f"{side}{n}" for n in range(length)) for side, length in (("s", J), ("t", K))]
        rows.append(["\t".join([*texts, of]) for of in (line, " ".join(rng.sample(line.split(), len(links))))])
    script = """
import json, sys
from opustrainer.modifiers.placeholders import PlaceholderTagModifier
tags = PlaceholderTagModifier(1.0, template="< {src} = {trg} >")
print(json.dumps([[[*tags([line])] for line in both] for both in json.load(sys.stdin)]))
"""
    answers, wrong = environment("opustrainer", OPUSTRAINER).ask(script, rows), 0
    for (_, _, links, _), both in zip(cases, answers, strict=True):
        alone = {
            link for link in links if all(sum(other[side] == link[side] for other in links) == 1 for side in (0, 1))
        }
        tags = [
            {(int(j), int(k)) for line in found for j, k in re.findall(r"< s(\d+) = t(\d+) >", line)} for found in both
        ]
        assert len(both[0]) == (1 if links else 0)
        assert alone <= tags[0] <= links
        wrong += not tags[1] <= links
    assert wrong > 0


def test_pharaoh_of_galechurch() -> None:
    """Its lines are links of groups of sentences, which no line of links can have."""
    rng = random.Random(6)
    texts = [[" ".join(rng.choices(ODD, k=rng.randint(1, 30))) for _ in range(rng.randint(5, 40))] for _ in "st"]
    script = """
import json, sys
import galechurch
print(json.dumps(galechurch.align(*json.load(sys.stdin)).to_pharaoh_lines()))
"""
    lines = environment("galechurch", GALECHURCH).ask(script, texts)
    assert lines
    for line in lines:
        assert re.fullmatch(r"\[[0-9, ]*\]:\[[0-9, ]*\]", line)
        with pytest.raises(CorpusError, match="is not a link"):
            parse_links(line, "L", 1)
