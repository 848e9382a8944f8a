"""Labels in files of any kind: what identity links carry is what there was, and each kind becomes the others."""

import importlib.util
import json
from io import BytesIO
from pathlib import Path

import pytest
from commands import refused, run, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpora.formats.docbin import write_docbin
from corpora.formats.label_studio import write_tasks
from corpora.formats.spans import Labelled, Mark, joined, place_of
from corpora.formats.standoff import write_standoff
from corpora.labelled import kind_of_labels, read_labelled
from corpora.projection import project_labels

WORDS = st.lists(st.sampled_from(["Ana", "Paris.", "(New", "York)", "l'été", "💩", "10%", "...", "U.S."]), max_size=6)
SPANS = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3), st.sampled_from("AB"), st.booleans()), max_size=4)
TEXTS = st.lists(st.tuples(WORDS, SPANS), min_size=1, max_size=3)
KINDS = [
    "json", "ann", "conll",
    pytest.param(
        "spacy",
        marks=[
            pytest.mark.slow, pytest.mark.filterwarnings("ignore"),
            pytest.mark.skipif(importlib.util.find_spec("spacy") is None, reason="spacy is not installed"),
        ],
    ),
]  # fmt: skip


def labelled(texts: list[tuple[list[str], list[tuple[int, int, str, bool]]]], overlap: bool) -> list[Labelled]:
    """Texts with spans of words, with or without the punctuation at their ends; overlapping or not."""
    found = []
    for number, (words, spans) in enumerate(texts, 1):
        (text, places), marks, before = joined(words), list[Mark](), 0
        for start, length, name, trimmed in spans:
            start, end = start if overlap else max(start, before), start + length
            if start < end <= len(words):
                place = place_of("a" if trimmed else "...", text, places[start], places[end - 1])
                marks, before = [*marks, Mark(*place, name)], end
        found.append(Labelled(number, text, places, sorted(marks)))
    return found


def put(path: Path, texts: list[Labelled]) -> None:
    """Write texts in the format that the name says, and a .txt beside it."""
    with BytesIO() as stream:
        match path.suffix:
            case ".json":
                write_tasks(stream, texts)
            case ".ann":
                write_standoff(stream, texts)
            case ".spacy":
                write_docbin(stream, texts, None, path)
            case _:
                stream.write("".join(str(one.rows) for one in texts).encode())
        path.write_bytes(stream.getvalue())
    write(path.with_suffix(".txt"), *(one.text for one in texts))


def carried(folder: Path, suffix: str, texts: list[Labelled]) -> list[Labelled]:
    """Write texts, project them to themselves, write what comes of it and read it."""
    source, links = folder / f"s.{suffix}", folder / "links"
    put(source, texts)
    write(links, *(" ".join(f"{n}-{n}" for n in range(len(one.words))) for one in texts))
    put(folder / f"t.{suffix}", list(project_labels(source, folder / "s.txt", links)))
    return [*read_labelled(folder / f"t.{suffix}")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@pytest.mark.parametrize("suffix", KINDS)
@given(texts=TEXTS)
def test_what_is_carried_to_the_same_text_is_the_same(
    tmp_path: Path, suffix: str, texts: list[tuple[list[str], list[tuple[int, int, str, bool]]]]
) -> None:
    if suffix == "conll":
        texts = [(words or ["a"], spans) for words, spans in texts]
    sources = labelled(texts, overlap=suffix in ("json", "ann"))
    in_words = suffix in ("conll", "spacy")
    found = carried(tmp_path, suffix, sources)
    assert [one.places(in_words) for one in found] == [one.places(in_words) for one in sources]


def test_each_kind_becomes_the_others(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("Ana vit (à New York).\n\nPaul\n")
    (tmp_path / "s.ann").write_text("T7\tPER 0 3\tAna\nT8\tLOC 11 19\tNew York\nT9\tPER 23 27\tPaul\n")
    target, links = write(tmp_path / "t", "lebt Ana in  »New York«.", "", "Paul"), tmp_path / "links"
    links.write_text("0-1 1-0 2-2 3-3 4-4\n\n0-0\n")
    project = "project", tmp_path / "s.ann", target, links, "-q", "-o"
    run(*project, tmp_path / "t.ann")
    assert (tmp_path / "t.ann").read_text() == "T7\tPER 5 8\tAna\nT8\tLOC 14 22\tNew York\nT9\tPER 26 30\tPaul\n"
    run(*project, tmp_path / "t.json")
    tasks = json.loads((tmp_path / "t.json").read_text())
    spans = [[result["value"]["text"] for result in task["predictions"][0]["result"]] for task in tasks]
    assert spans == [["Ana", "New York"], [], ["Paul"]]
    assert kind_of_labels(tmp_path / "t.json").name == "json"
    for gold in ("t.ann", "t.json"):
        (tmp_path / "t.txt").write_bytes(target.read_bytes())
        found = run("project", tmp_path / "s.ann", target, links, "-q", "--gold", tmp_path / gold)
        assert found.stdout.splitlines()[-1].split()[:4] == ["all", "3", "3", "3"]
    run(*project, tmp_path / "t.conll.gz")
    run("project", tmp_path / "s.ann", target, links, "-q", "-o", tmp_path / "t.conll")
    columns = (tmp_path / "t.conll").read_text()
    assert columns.startswith("lebt O\nAna B-PER\nin O\n»New B-LOC\nYork«. I-LOC\n\n")
    message = refused(*project, tmp_path / "t.conllu")
    assert "t.conllu: cannot have spans, but words of CoNLL-U alone" in message
    assert not (tmp_path / "t.conllu").exists()
    assert run("project", tmp_path / "t.conll", target, links, "-q", "-o", "-", code=1).stderr.count("\n") == 1


def test_labels_of_words_are_no_spans(tmp_path: Path) -> None:
    labels, text, links = (write(tmp_path / name, line) for name, line in (("l", "a DET"), ("t", "a"), ("k", "0-0")))
    for suffix in ("json", "ann"):
        message = refused("project", labels, text, links, "-q", "-o", tmp_path / f"o.{suffix}")
        assert "cannot have labels of words, but spans alone" in message
    nested = write(tmp_path / "n.ann", "T1\tA 0 1\ta", "T2\tB 0 1\ta")
    write(tmp_path / "n.txt", "a")
    message = refused("project", nested, text, links, "-q", "-o", tmp_path / "o.conll")
    assert "cannot have this in text 1: the B overlaps another label" in message


TOKENS = '{"source": ["Ana", "sleeps", "."], "target": ["Ana", ".@@", "dort"], "links": %s}'


@pytest.mark.parametrize("suffix", ["json", "ann"])
def test_links_of_other_tokens_of_the_same_text(tmp_path: Path, suffix: str) -> None:
    """Which have no punctuation at their ends, so that all of a token is labelled."""
    text, target = "Ana sleeps.", write(tmp_path / "t", " Ana. dort")
    source, links = tmp_path / f"s.{suffix}", tmp_path / "links"
    put(source, [Labelled(1, text, [], [Mark(0, 3, "PER"), Mark(10, 11, "STOP")])])
    write(links, TOKENS % "[[0, 0], [1, 2], [2, 1]]")
    (found,) = project_labels(source, target, links)
    assert [(mark.start, mark.end, mark.name) for mark in found.marks or ()] == [(1, 4, "PER"), (4, 5, "STOP")]
    for line, message in (
        ((TOKENS % "[]").replace("Ana", "Eva"), "links:1: has links of other words"),
        (TOKENS % "[]" + "\n" + TOKENS % "[]", "links:2: the text ends after 1 pair"),
    ):
        write(links, line)
        assert message in refused("project", source, target, links, "-q", line=int(message[6]))


def test_names_with_spaces(tmp_path: Path) -> None:
    """They stay in JSON; where a space ends a column they are joined."""
    files = write(tmp_path / "t", "a"), write(tmp_path / "k", "0-0")
    put(tmp_path / "s.json", [Labelled(1, "a", [(0, 1)], [Mark(0, 1, "Job Title")])])
    for suffix, written in (
        (".json", '"labels": ["Job Title"]'),
        (".ann", "T1\tJob_Title 0 1\ta\n"),
        (".conll", "a B-Job_Title"),
    ):
        run("project", tmp_path / "s.json", *files, "-q", "-o", tmp_path / f"o{suffix}")
        assert written in (tmp_path / f"o{suffix}").read_text()


def test_the_words_of_tasks_are_a_text(tmp_path: Path) -> None:
    tasks = write(tmp_path / "s", json.dumps([{"data": {"text": "a\u00a0b\n c"}, "id": 1}, {"data": {"text": ""}}]))
    run("convert", tasks, tmp_path / "words", "-q")
    assert (tmp_path / "words").read_text("utf-8") == "a\u00a0b c\n\n"
    assert [one.words for one in read_labelled(tasks)] == [[(0, 3), (5, 6)], []]
    message = run("align", tasks, "-q", code=1).stderr
    assert "is one text, without its translation after it" in message or "looks like JSON" in message
