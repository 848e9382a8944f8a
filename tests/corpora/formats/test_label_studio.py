"""Label Studio's exports, as its own converter writes them, and what of them is left out."""

import json
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path

import pytest
from readings import leaves_out, refuses

from corpora.formats.label_studio import read_tasks, write_tasks
from corpora.recognize import file_form

TEXT = "💩 Ana in\nParis"


def label(places: str, more: str = "") -> str:
    """A label as ``2 5 PER``; more: further members of its value."""
    start, end, name = places.split()
    value = f'{{"start": {start}, "end": {end}, "labels": ["{name}"]{more}}}'
    return f'{{"type": "labels", "from_name": "ner", "to_name": "t", "value": {value}}}'


def task(*annotations: str, more: str = "") -> str:
    of = ", ".join(annotations)
    return f'{{"id": 1, "data": {{"text": {json.dumps(TEXT)}}}, "annotations": [{of}]{more}}}'


def results(*of: str) -> str:
    return f'{{"result": [{", ".join(of)}]}}'


PER, LOC = label("2 5 PER"), label("9 14 LOC")
CHOICE = '{"type": "choices", "from_name": "c", "to_name": "t", "value": {"choices": ["x"]}}'
RELATION = '{"type": "relation", "from_id": "a", "to_id": "b", "direction": "right", "labels": ["in"]}'
VALUES = (
    f'{{"text": {json.dumps(TEXT)}, "id": 4, "c": "x", "ner": [{{"start": 2, "end": 5, "text": "Ana", '
    '"labels": ["PER"]}, {"start": 9, "end": 14, "labels": ["LOC"]}]}'
)


@pytest.mark.parametrize(
    ("tasks", "expected", "left_out"),
    [
        (task(results(PER, LOC)), "2 5 PER, 9 14 LOC", ""),
        (task(results(label("0 8 A"), PER, label("2 5 B"))), "0 8 A, 2 5 PER, 2 5 B", ""),
        (f'{task()}, {{"data": {{"text": ""}}}}', "; ", ""),
        (task(more=f', "predictions": [{results(LOC)}]'), "9 14 LOC", ""),
        (task(results(), more=f', "predictions": [{results(LOC)}]'), "", ""),
        (f'{VALUES}, {{"text": "", "id": 5}}', "2 5 PER, 9 14 LOC; ", ""),
        (f'{VALUES}, {{"text": {json.dumps(TEXT)}, "id": 4}}', "2 5 PER, 9 14 LOC", "1 further annotations"),
        (task('{"result": [], "was_cancelled": true}', results(PER), results(LOC)), "2 5 PER",
         "1 cancelled annotations; 1 further annotations of tasks"),
        (task(results(CHOICE, PER, RELATION, CHOICE)), "2 5 PER",
         "2 results of type choices; 1 results of type relation"),
        # Places in UTF-16, as old versions have them, and those of another text.
        (task(results(label("3 6 PER", ', "text": "Ana"'), label("10 15 LOC", ', "text": "Paris"'))),
         "2 5 PER, 9 14 LOC", ""),
        (task(results(label("6 14 X", ', "text": "in\\\\nParis"'))), "6 14 X", ""),
        (task(results(label("0 3 X", ', "text": "Eva"'))), "", "1 labels whose text is not at their place"),
    ],
)  # fmt: skip
def test_exports(tmp_path: Path, tasks: str, expected: str, left_out: str) -> None:
    (tmp_path / "a").write_text(f"[{tasks}]", "utf-8")
    with leaves_out(f"left out: {left_out}") if left_out else nullcontext():
        found = list(read_tasks(tmp_path / "a"))
    assert "; ".join(", ".join(" ".join(map(str, mark[:3])) for mark in one.marks or ()) for one in found) == expected


def test_a_task_is_a_text_and_what_is_written_a_prediction_of_the_same_controls(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"[{task(results(PER, LOC))}]")
    (one,) = read_tasks(tmp_path / "a")
    assert one.tokens == ["💩", "Ana", "in", "Paris"], "white space of any kind"
    assert [span[:2] for span in one.spans] == [(1, 2), (3, 4)]
    with BytesIO() as stream:
        write_tasks(stream, [one])
        (written,) = json.loads(stream.getvalue())
    assert written["data"] == {"text": TEXT}
    (prediction,) = written["predictions"]
    assert prediction["model_version"] == "aligner"
    expected = (label("2 5 PER", ', "text": "Ana"'), label("9 14 LOC", ', "text": "Paris"'))
    assert prediction["result"] == [{"id": str(n), **json.loads(of)} for n, of in enumerate(expected, 1)]


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ("[{", 0, "is broken JSON"), ('[{"data": {}}]', 1, "task 1 is no text"), ('[{"text": 5}]', 1, "task 1 is no"),
        (f"[{task()}, {task(results(label('5 5 X')))}]", 2, "task 2 .* a label from 5 to 5"),
        (f"[{task(results(label('5 50 X')))}]", 1, "a label ends at 50, after 14 characters"),
        ("[" + task(results(label("2 5 X", ', "labels": "X"'))) + "]", 1, "no list"),
        (f"[{task('{}')}]", 1, "task 1 is no text with labels"), ("[" * 9999, 0, "nested too deeply"),
        ('[{"text": "\\ud83d"}]', 1, "task 1 is no text"),
        ("[" + task(results(label("2 5 \\ud83d"))) + "]", 1, "task 1"),
        ('[{"text": "a", "id": NaN}]', 0, "NaN is no number"), ('[{"data": [1]}, 3]', 1, "task 1 is no text"),
    ],
)  # fmt: skip
def test_what_is_broken(tmp_path: Path, content: str, line: int, what: str) -> None:
    (tmp_path / "a").write_text(content)
    with refuses(what) as error:
        list(read_tasks(tmp_path / "a"))
    assert error.value.line == line  # type: ignore[attr-defined]


def test_files_of_tasks_are_known_by_how_they_begin() -> None:
    assert [file_form(head).name for head in ([b"[]"], [b"[", b"  {", b'"id": 1'], [b'[{"id": 1}]'])] == ["json"] * 3
    assert "json" not in [file_form(head).name for head in ([b"[ O", b"{ O"], [b"[", b"x"], [b"[ ] {"], [b'["a"]'], [])]
