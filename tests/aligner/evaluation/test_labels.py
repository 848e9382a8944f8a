"""F1 of labelled spans, and the command that carries labels across links."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import refused, run, write
from hypothesis import given
from hypothesis import strategies as st

from aligner.evaluation.labels import count_labels

TAGS = st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), min_size=5, max_size=5)


@given(st.lists(st.tuples(TAGS, TAGS)))
def test_counts_are_those_of_the_definition(sentences: list[tuple[list[str], list[str]]]) -> None:
    """A span begins at B, or where the type changes, and goes on while I of its type follows."""

    def spans(tags: list[str]) -> set[tuple[int, int, str]]:
        found = set()
        for start, tag in enumerate(tags):
            begins = tag[0] == "B" or (tag[0] == "I" and (start == 0 or tags[start - 1][1:] != tag[1:]))
            if begins:
                end = start + 1
                while end < 5 and tags[end] == f"I{tag[1:]}":
                    end += 1
                found.add((start, end, tag[2:]))
        return found

    counts = count_labels(sentences, spans=True)
    both = [(spans(found), spans(gold)) for found, gold in sentences]
    for name in ("A", "B", "all"):
        own = [tuple({one for one in side if name in ("all", one[2])} for side in pair) for pair in both]
        expected = tuple(sum(map(len, side)) for side in ((a for a, _ in own), (b for _, b in own)))
        right = sum(len(a & b) for a, b in own)
        if name in counts:
            assert counts[name] == (*expected, right)
            precision, recall = (right / n if n else 0.0 for n in expected)
            assert (counts[name].precision, counts[name].recall) == (precision, recall)
            assert counts[name].f1 == pytest.approx(2 * precision * recall / (precision + recall) if right else 0.0)
        else:
            assert (expected, right) == ((0, 0), 0)


def test_labels_of_words() -> None:
    counts = count_labels([(["NOUN", "_", "VERB"], ["NOUN", "DET", "NOUN"])], spans=False)
    assert counts == {"DET": (0, 1, 0), "NOUN": (1, 2, 1), "VERB": (1, 0, 0), "all": (2, 3, 1)}


def test_projecting_the_sample(sample: Path, tmp_path: Path) -> None:
    """36 spans, labelled in both languages without a look at the links."""
    labels, gold = (sample / f"entities.{language}.conll" for language in ("en", "fr"))
    files = labels, sample / "test.fr", sample / "test.wa"
    written = run("project", *files, "-q").stdout
    report = run("project", *files, "--gold", gold, "-o", tmp_path / "out").stdout.splitlines()
    assert (tmp_path / "out").read_text("utf-8") == written
    assert (report[-1].split()[0], report[-1].split()[-1]) == ("all", "100.00"), "by gold links"
    perfect = run("project", *files, "--gold", tmp_path / "out").stdout.splitlines()
    assert perfect[-1].split()[1:] == ["36", "36", "36", "100.00", "100.00", "100.00"]
    assert "has not the words of the target text" in refused("project", *files, "--gold", labels, line=1)
    short = write(tmp_path / "short", *written.splitlines()[:12])
    assert "has not the sentences" in refused("project", *files, "--gold", short)
    assert "is read here" in refused("project", *files, "-o", files[1], "--force")
