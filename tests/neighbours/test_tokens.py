"""Tokens of sacremoses and pyonmttok through ``--remap``, and our CoNLL-U in conllu, pyconll and Udapi."""

from __future__ import annotations

import io
import random
from html import unescape
from itertools import product
from pathlib import Path

import pytest
from commands import run, write
from neighbours.environments import ODD, environment

from corpora.formats.conll import read_sentences, write_conllu
from corpora.links import PairLinks, WordPair
from corpora.same_text import compare, shared

pytestmark = pytest.mark.nightly

SACREMOSES, PYONMTTOK = "sacremoses==0.2.0", "pyonmttok==1.38.1"
CONLLU, PYCONLL, UDAPI = "conllu==6.0.0", "pyconll==3.3.1", "udapi==0.5.2"
CASES = 1000
INVISIBLE = "\u200b"
"""A token of it alone has no link by ours."""

BY_MOSES = """
import json, sys
from sacremoses import MosesTokenizer
moses = MosesTokenizer("en")
settings, lines = json.load(sys.stdin)
print(json.dumps([moses.tokenize(line, **settings) for line in lines]))
"""

BY_OPENNMT = """
import json, sys
import pyonmttok
settings, lines = json.load(sys.stdin)
tokenizer = pyonmttok.Tokenizer(**settings)
found = []
for line in lines:
    tokens, _ = tokenizer.tokenize(line)
    text, ranges = tokenizer.detokenize_with_ranges(tokens, unicode_ranges=True)
    found.append([tokens, text, sorted(ranges.items())])
print(json.dumps(found))
"""


def draw(seed: int) -> list[str]:
    rng = random.Random(seed)
    words = [*ODD, "don't", "(well)", "U.S.", "$3.50", "l'", "100%-ig", "東京都", "end.", "“so”"]
    return [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(CASES)]


def owners(words: list[str], parts: list[str]) -> list[list[int]]:
    """For each token, the words that its visible characters are of.  parts: what each token is of the line."""
    of_character = [place for place, word in enumerate(words) for c in word if c != INVISIBLE]
    found, start = list[list[int]](), 0
    for part in parts:
        end = start + len(part.replace(INVISIBLE, ""))
        found.append(sorted({*of_character[start:end]}))
        start = end
    assert start == len(of_character)
    return found


@pytest.mark.parametrize("settings", [{}, {"escape": False}, {"aggressive_dash_splits": True}], ids=str)
def test_tokens_of_sacremoses(settings: dict[str, bool]) -> None:
    lines = draw(1)
    for line, tokens in zip(lines, environment("sacremoses", SACREMOSES).ask(BY_MOSES, [settings, lines]), strict=True):
        plain = [token if settings.get("escape") is False else unescape(token) for token in tokens]
        if settings.get("aggressive_dash_splits"):
            plain = ["-" if token == "@-@" else token for token in plain]
        words = line.split(" ")
        assert shared(*compare(words, tokens)[::-1]) == owners(words, plain), (line, tokens)


@pytest.mark.parametrize(
    "settings",
    [
        {"mode": "conservative", "joiner_annotate": True},
        {"mode": "aggressive", "joiner_annotate": True, "case_feature": False},
        {"mode": "aggressive", "spacer_annotate": True},
        {"mode": "char", "joiner_annotate": True},
        {"mode": "aggressive", "joiner_annotate": True, "joiner_new": True},
    ],
    ids=str,
)
def test_tokens_of_pyonmttok(settings: dict[str, object]) -> None:
    lines = draw(2)
    answers = environment("pyonmttok", PYONMTTOK).ask(BY_OPENNMT, [settings, lines])
    for line, (tokens, text, ranges) in zip(lines, answers, strict=True):
        words = line.split(" ")
        assert text.split() == line.split(), "it makes the line again"
        places = dict(ranges)
        parts = [text[places[n][0] : places[n][1] + 1] if n in places else "" for n in range(len(tokens))]
        assert shared(*compare(words, tokens)[::-1]) == owners(words, parts), (line, tokens)


def test_remapped_links(tmp_path: Path) -> None:
    texts = [draw(3), draw(4)]
    moses = environment("sacremoses", SACREMOSES)
    tokens = [moses.ask(BY_MOSES, [{}, lines]) for lines in texts]
    for side, lines, tokenized in zip("ef", texts, tokens, strict=True):
        write(tmp_path / f"plain.{side}", *lines)
        write(tmp_path / f"moses.{side}", *map(" ".join, tokenized))
    plain = tmp_path / "plain.e", tmp_path / "plain.f"
    links = run("align", *plain, "-q").stdout.splitlines()
    found = run("align", *plain, "-q", "--remap", tmp_path / "moses").stdout.splitlines()
    for number, (line, remapped) in enumerate(zip(links, found, strict=True)):
        of_words = [
            owners(text[number].split(" "), [*map(unescape, side[number])])
            for text, side in zip(texts, tokens, strict=True)
        ]
        expected = set[tuple[int, int]]()
        for link in line.split():
            ends = [int(end) for end in link.split("-")]
            of_link = [[n for n, own in enumerate(of) if end in own] for end, of in zip(ends, of_words, strict=True)]
            expected |= {(j, k) for j, k in product(*of_link)}
        assert remapped == " ".join(f"{j}-{k}" for j, k in sorted(expected))


def draw_pairs(seed: int) -> list[WordPair]:
    """Random pairs with sure and possible links; some sides have no words."""
    rng, pairs = random.Random(seed), list[WordPair]()
    for _ in range(CASES):
        J, K = rng.randint(0, 12), rng.randint(0, 12)
        links = {(j, k) for j in range(J) for k in range(K) if rng.random() < 0.3}
        sure = frozenset(link for link in links if rng.random() < 0.7)
        pairs.append((rng.choices(ODD, k=J), rng.choices(ODD, k=K), PairLinks(sure, frozenset(links - sure))))
    return pairs


CONLLU_BY_OTHERS = """
import io, json, sys
import conllu, pyconll
from udapi.block.read.conllu import Conllu
from udapi.core.document import Document
text, name = json.load(sys.stdin)
found = []
if name == "conllu":
    for sentence in conllu.parse(text):
        rows = [(token["form"], {key: value.split(",") for key, value in (token["misc"] or {}).items()})
                for token in sentence]
        found.append([sentence.metadata["sent_id"], sentence.metadata["text"], rows])
    again = "".join(sentence.serialize() for sentence in conllu.parse(text))
elif name == "pyconll":
    read = pyconll.load_from_string(text)
    for sentence in read:
        rows = [(one.form, {key: sorted(values, key=int) for key, values in one.misc.items()}) for one in sentence]
        found.append([sentence.id, sentence.text, rows])
    again = read.conll()
else:
    document = Document()
    document.from_conllu_string(text)
    for bundle in document.bundles:
        for tree in bundle.trees:
            rows = [(node.form, {key: node.misc[key].split(",") for key in node.misc}) for node in tree.descendants]
            found.append([tree.sent_id, tree.text, rows])
    again = document.to_conllu_string()
print(json.dumps([found, again]))
"""


MISC_BY_OTHERS = """
import json, sys
import conllu, pyconll
from udapi.core.document import Document
text, name = json.load(sys.stdin)
if name == "conllu":
    misc = conllu.parse(text)[0][0]["misc"]
    found = [misc["Align"], misc["Ref"]]
elif name == "pyconll":
    row = pyconll.load_from_string(text).conll().strip()
    found = [field.partition("=")[2] for field in row.split("\\t")[9].split("|")]
else:
    document = Document()
    document.from_conllu_string(text)
    misc = document.bundles[0].trees[0].descendants[0].misc
    found = [misc["Align"], misc["Ref"]]
print(json.dumps(found))
"""


@pytest.mark.parametrize("name", ["conllu", "pyconll", "udapi"])
def test_links_in_conllu(tmp_path: Path, name: str) -> None:
    """Pyconll has the partners of a word as a set. What each writes of them is read again, to the words."""
    pairs, written = draw_pairs(5), io.BytesIO()
    write_conllu(written, pairs, ("en", "fr"))
    there = environment("conllu", CONLLU, PYCONLL, UDAPI)
    found, again = there.ask(CONLLU_BY_OTHERS, [written.getvalue().decode(), name])
    expected = []
    for number, (*sides, links) in enumerate(pairs, 1):
        for side, words in enumerate(sides):
            misc: list[dict[str, list[str]]] = [{} for _ in words]
            for key, kind in (("Align", links.sure), ("AlignPossible", links.possible)):
                for link in sorted(kind):
                    misc[link[side]].setdefault(key, []).append(str(link[1 - side] + 1))
            rows = [list(row) for row in zip(words, misc, strict=True)]
            expected += [[f"{number}/{('en', 'fr')[side]}", " ".join(words), rows]] if words else []
    assert found == expected
    (tmp_path / "again.conllu").write_text(again, "utf-8")
    read = [sentence.words for sentence in read_sentences(tmp_path / "again.conllu")]
    assert read == [[form for form, _ in rows] for _, _, rows in expected]


def test_values_in_misc() -> None:
    """Conllu cuts them at a second equals sign, pyconll sorts what is between commas as text; Udapi does neither."""
    text = "1\ta\ta\tX\t_\t_\t0\troot\t_\tAlign=2,10|Ref=b=c\n\n"
    there = environment("conllu", CONLLU, PYCONLL, UDAPI)
    found = {name: there.ask(MISC_BY_OTHERS, [text, name]) for name in ("conllu", "pyconll", "udapi")}
    assert found == {"conllu": ["2,10", "b"], "pyconll": ["10,2", "b=c"], "udapi": ["2,10", "b=c"]}
