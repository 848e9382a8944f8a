"""eflomal 2.0.0 and what stands in its place: files, lines and counts, not the links themselves."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from neighbours.environments import ODD, environment

import aligner.eflomal as eflomal
from corpora.errors import CorpusError

pytestmark = pytest.mark.nightly

EFLOMAL = "eflomal==2.0.0"
CASES = 1000
FILES = "links_filename_fwd", "links_filename_rev", "scores_filename_fwd", "scores_filename_rev"

ALIGN = """
import json, pathlib, sys, tempfile
import eflomal
settings, texts, priors, files = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    paths = {name: f"{folder}/{name}" for name in files}
    eflomal.Aligner(**settings).align(*texts, **paths, priors_input=priors)
    print(json.dumps([pathlib.Path(path).read_text() for path in paths.values()]))
"""


def of_both(folder: Path, texts: list[list[str]], priors: list[str] | None = None, **settings: Any) -> list[list[str]]:
    """The content of each file by eflomal, and by ours."""
    theirs = environment("eflomal", EFLOMAL).ask(ALIGN, [settings, texts, priors, FILES])
    paths = {name: folder / name for name in FILES}
    eflomal.Aligner(**settings).align(*texts, **paths, priors_input=priors)  # type: ignore[arg-type]
    return [theirs, [path.read_text() for path in paths.values()]]


def judge(texts: list[list[str]], files: list[str], *, theirs: bool) -> None:
    """Each file has a line for each pair; links are within it, at most one for each word that is explained.

    Theirs are sorted by that word, ours by the source; of theirs, sentences of 1,024 tokens or more count as empty.
    """
    lines = [file.splitlines() for file in files]
    assert [len(one) for one in lines] == [len(texts[0])] * 4
    for source, target, *of_pair in zip(*texts, *lines, strict=True):
        lengths = [0 if theirs and n >= 1024 else n for n in (len(source.split()), len(target.split()))]
        for side, line in enumerate(of_pair[:2]):
            links = [tuple(map(int, link.split("-"))) for link in line.split()]
            assert all(0 <= link[n] < lengths[n] for link in links for n in (0, 1))
            explained = [link[1 - side] for link in links]
            assert len({*explained}) == len(explained)
            assert links == sorted(links, key=lambda link: link[1 - side] if theirs else link)
        if 0 in lengths:
            assert [float(score) for score in of_pair[2:]] == [0.0, 0.0]
        assert all(len(score.split()) == 1 for score in of_pair[2:])


def judge_both(texts: list[list[str]], both: Sequence[list[str]]) -> None:
    for files, theirs in zip(both, (True, False), strict=True):
        judge(texts, files, theirs=theirs)


def draw_texts(seed: int) -> list[list[str]]:
    """Lines of odd tokens, some empty, divided by any white space that Python's `split` knows, with or without ends."""
    rng, words = random.Random(seed), [*ODD, *(f"w{n}" for n in range(60))]
    spaces = [" "] * 20 + ["  ", "\t", "\u00a0", "\u3000", "\u2003"]
    texts: list[list[str]] = [[], []]
    for _ in range(CASES):
        for text in texts:
            tokens = rng.choices(words, k=rng.choice([0, 1, 2, 5, 9, 20]))
            text.append("".join(token + rng.choice(spaces) for token in tokens) + rng.choice(["", "\n"]))
    return texts


@pytest.mark.parametrize(
    "settings",
    [{}, {"source_prefix_len": 2, "target_suffix_len": 3}, {"null_prior": 0.5, "rel_iterations": 0.5}],
    ids=["defaults", "parts", "prior"],
)
def test_files_of_odd_tokens(tmp_path: Path, settings: dict[str, Any]) -> None:
    texts = draw_texts(len(settings))
    judge_both(texts, of_both(tmp_path, texts, **settings))


def test_sentences_of_1024_tokens(tmp_path: Path) -> None:
    """Ours aligns them; a pair with one of them has no link there, and both scores are 0."""
    rng = random.Random(4)
    lengths = [(n, m) for n in (1, 1022, 1023, 1024, 1025) for m in (1, 1022, 1023, 1024, 1025)]
    texts = [[" ".join(f"w{rng.randrange(99)}" for _ in range(pair[side])) for pair in lengths] for side in (0, 1)]
    theirs, ours = of_both(tmp_path, texts, rel_iterations=0.01)  # 1,000 passes else, as there are few pairs
    judge_both(texts, (theirs, ours))
    for pair, of_theirs, of_ours in zip(lengths, theirs[0].splitlines(), ours[0].splitlines(), strict=True):
        if min(pair) > 1:  # a word alone may translate nothing
            assert (bool(of_theirs), bool(of_ours)) == (max(pair) < 1024, True)


@pytest.mark.parametrize("kind", ["LEX", "HMMF", "HMMR", "FERF", "FERR", "all"])
def test_priors_of_each_kind_are_taken(tmp_path: Path, kind: str) -> None:
    """Of words, too, that the text does not have, of NULL, and of counts that are fractions or 0."""
    rng, texts = random.Random(kind), draw_texts(7)
    words = [*ODD, "no-such-word", "<NULL>"]
    lines = {
        "LEX": [
            f"LEX\t{rng.choice(words)}\t{rng.choice(words)}\t{rng.choice([0, 0.25, 3, 1e3]):g}\n" for _ in range(99)
        ],
        **{
            way: [f"{way}\t{rng.randint(-30, 30)}\t{rng.randint(0, 9)}\n" for _ in range(99)]
            for way in ("HMMF", "HMMR")
        },
        **{
            way: [f"{way}\t{rng.choice(words[:-1])}\t{rng.randint(1, 5)}\t{rng.randint(1, 9)}\n" for _ in range(99)]
            for way in ("FERF", "FERR")
        },
    }
    priors = [line for name, each in lines.items() for line in each if kind in (name, "all")]
    judge_both(texts, of_both(tmp_path, texts, priors))


def test_priors_are_counted_alike() -> None:
    """To the byte, of links in any order, twice, or none."""
    rng, cases = random.Random(11), list[list[list[str]]]()
    for _ in range(CASES // 4):
        rows: list[list[str]] = [[], [], [], []]
        for _ in range(4):
            J, K = rng.randint(1, 6), rng.randint(1, 6)
            sides = rng.choices(ODD, k=J), rng.choices(ODD, k=K)
            both = [" ".join(f"{rng.randrange(J)}-{rng.randrange(K)}" for _ in range(rng.randint(0, 8))) for _ in "FR"]
            for row, line in zip(rows, [*map(" ".join, sides), *both], strict=True):
                row.append(line)
        cases.append(rows)
    script = """
import io, json, sys
import eflomal
found = []
for rows in json.load(sys.stdin):
    written = io.StringIO()
    eflomal.write_priors(written, *eflomal.calculate_priors(*rows))
    found.append(written.getvalue())
print(json.dumps(found))
"""
    for rows, answer in zip(cases, environment("eflomal", EFLOMAL).ask(script, cases), strict=True):
        written = io.StringIO()
        eflomal.write_priors(written, *eflomal.calculate_priors(*rows))
        assert written.getvalue() == answer, json.dumps(rows)


def test_priors_of_either(sample: Path, tmp_path: Path) -> None:
    """Links of eflomal make our priors, which eflomal takes, and the other way round."""
    texts = [(sample / f"train.{side}").read_text("utf-8").splitlines() for side in ("en", "fr")]
    for files in of_both(tmp_path, texts):
        links = [file.splitlines() for file in files[:2]]
        written = io.StringIO()
        eflomal.write_priors(written, *eflomal.calculate_priors(*texts, *links))
        both = of_both(tmp_path, texts, written.getvalue().splitlines(keepends=True))
        judge_both(texts, both)
        for again in both:
            rows = [[sorted(line.split()) for line in each] for each in (again[0].splitlines(), links[0])]
            assert sum(one == other for one, other in zip(*rows, strict=True)) > len(texts[0]) / 4


def test_what_both_refuse(tmp_path: Path) -> None:
    script = """
import json, sys
import eflomal
found = []
for texts, priors in json.load(sys.stdin):
    try:
        found.append(eflomal.Aligner().align(*texts, priors_input=priors))
    except Exception as error:
        found.append(type(error).__name__)
print(json.dumps(found))
"""
    cases: list[Any] = [[[["a", "b"], ["x"]], None]]
    cases += [
        [[["a"], ["x"]], [line]] for line in ("LEX\ta\tx\n", "LEX\ta\tx\tmany\n", "OTHER\t1\t2\n", "HMMF\tb\t1\n")
    ]
    assert all(environment("eflomal", EFLOMAL).ask(script, cases))
    for texts, priors in cases:
        with pytest.raises((ValueError, CorpusError), match="line"):
            eflomal.Aligner().align(*texts, tmp_path / "F", priors_input=priors)
