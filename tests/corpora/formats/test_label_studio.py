"""Label Studio's exports, as its own converter writes them, and what of them is left out."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from corpora.errors import CorpusError
from corpora.formats.label_studio import read_tasks, write_tasks
from corpora.left_out import LeftOut
from corpora.recognize import file_form

TEXT = "💩 Ana in\nParis"
PER, LOC = (2, 5, "PER"), (9, 14, "LOC")


def span(start: int, end: int, label: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "labels",
        "from_name": "ner",
        "to_name": "t",
        "value": {"start": start, "end": end, "labels": [label], **more},
    }


def task(*annotations: Any, **more: Any) -> dict[str, Any]:
    return {"id": 1, "data": {"text": TEXT}, "annotations": annotations, **more}


def read(path: Path, *tasks: Any) -> list[list[tuple[int, int, str]]]:
    path.write_text(json.dumps(tasks), "utf-8")
    return [[mark[:3] for mark in one.marks or ()] for one in read_tasks(path)]


CHOICE = {"type": "choices", "from_name": "c", "to_name": "t", "value": {"choices": ["x"]}}
RELATION = {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right", "labels": ["in"]}
VALUES = [{"start": 2, "end": 5, "text": "Ana", "labels": ["PER"]}, {"start": 9, "end": 14, "labels": ["LOC"]}]


@pytest.mark.parametrize(
    ("tasks", "expected", "left_out"),
    [
        ([task({"result": [span(*PER), span(*LOC)]})], [[PER, LOC]], ""),
        ([task({"result": [span(0, 8, "A"), span(*PER), span(*PER[:2], "B")]})], [[(0, 8, "A"), PER, (2, 5, "B")]], ""),
        ([task(), {"data": {"text": ""}}], [[], []], ""),
        ([task(predictions=[{"result": [span(*LOC)]}])], [[LOC]], ""),
        ([task({"result": []}, predictions=[{"result": [span(*LOC)]}])], [[]], ""),
        ([{"text": TEXT, "id": 4, "ner": VALUES, "c": "x"}, {"text": "", "id": 5}], [[PER, LOC], []], ""),
        ([{"text": TEXT, "id": 4, "ner": VALUES}, {"text": TEXT, "id": 4}], [[PER, LOC]], "1 further annotations"),
        (
            [task({"result": [], "was_cancelled": True}, {"result": [span(*PER)]}, {"result": [span(*LOC)]})], [[PER]],
            "1 cancelled annotations; 1 further annotations of tasks",
        ),
        (
            [task({"result": [CHOICE, span(*PER), RELATION, CHOICE]})], [[PER]],
            "2 results of type choices; 1 results of type relation",
        ),
        # Places in UTF-16, as old versions have them, and those of another text.
        ([task({"result": [span(3, 6, "PER", text="Ana"), span(10, 15, "LOC", text="Paris")]})], [[PER, LOC]], ""),
        ([task({"result": [span(6, 14, "X", text="in\\nParis")]})], [[(6, 14, "X")]], ""),
        ([task({"result": [span(0, 3, "X", text="Eva")]})], [[]], "1 labels whose text is not at their place"),
    ],
)  # fmt: skip
def test_exports(tmp_path: Path, tasks: list[Any], expected: list[list[tuple[int, int, str]]], left_out: str) -> None:
    if not left_out:
        assert read(tmp_path / "a", *tasks) == expected
        return
    with pytest.warns(LeftOut, match=f"left out: {left_out}"):
        assert read(tmp_path / "a", *tasks) == expected


def test_a_task_is_a_text_with_white_space_of_any_kind(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(json.dumps([task({"result": [span(*LOC)]})]))
    (one,) = read_tasks(tmp_path / "a")
    assert one.tokens == ["💩", "Ana", "in", "Paris"]
    assert [span[:2] for span in one.spans] == [(3, 4)]


def test_what_is_written_is_a_prediction_of_the_same_controls(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(json.dumps([task({"result": [span(*PER)]})]))
    with BytesIO() as stream:
        write_tasks(stream, read_tasks(tmp_path / "a"))
        (written,) = json.loads(stream.getvalue())
    assert written["data"] == {"text": TEXT}
    (prediction,) = written["predictions"]
    assert prediction["model_version"] == "aligner"
    assert prediction["result"] == [{"id": "1", **span(*PER, text="Ana")}]


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ("[{", 0, "is broken JSON"), ('[{"data": {}}]', 1, "task 1 is no text"), ('[{"text": 5}]', 1, "task 1 is no"),
        (json.dumps([task(), task({"result": [span(5, 5, "X")]})]), 2, "task 2 .* a label from 5 to 5"),
        (json.dumps([task({"result": [span(5, 50, "X")]})]), 1, "a label ends at 50, after 14 characters"),
        (json.dumps([task({"result": [span(*PER, labels="X")]})]), 1, "no list"),
        (json.dumps([task({})]), 1, "task 1 is no text with labels"), ("[" * 9999, 0, "nested too deeply"),
        ('[{"text": "\\ud83d"}]', 1, "task 1 is no text"),
        (json.dumps([task({"result": [span(*PER, labels=["\ud83d"])]})]), 1, "task 1"),
        ('[{"text": "a", "id": NaN}]', 0, "NaN is no number"), ('[{"data": [1]}, 3]', 1, "task 1 is no text"),
    ],
)  # fmt: skip
def test_what_is_broken(tmp_path: Path, content: str, line: int, what: str) -> None:
    (tmp_path / "a").write_text(content)
    with pytest.raises(CorpusError, match=what) as error:
        list(read_tasks(tmp_path / "a"))
    assert error.value.line == line


def test_files_of_tasks_are_known_by_how_they_begin() -> None:
    assert [file_form(head).name for head in ([b"[]"], [b"[", b"  {", b'"id": 1'], [b'[{"id": 1}]'])] == ["json"] * 3
    assert "json" not in [file_form(head).name for head in ([b"[ O", b"{ O"], [b"[", b"x"], [b"[ ] {"], [b'["a"]'], [])]
