"""Label Studio's JSON: texts with labelled spans, as it exports them (JSON, JSON-MIN), and predictions to import.

Places are counted in code points, as Python does; old versions of Label Studio wrote them in UTF-16
[HumanSignal/label-studio#1347].
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from corpora.errors import CorpusError
from corpora.files import StrPath, read_whole
from corpora.formats import Format
from corpora.formats.spans import Labelled, Mark, words_of
from corpora.left_out import warn_of_left_out
from corpora.strict_json import parse_json

_BEGINS = re.compile(rb"\s*\[\s*(\{|\]\s*$)")
"""Matches the first line, or lines, of a file of tasks."""

_DEFAULT_NAMES = "label", "text"  # of Label Studio's template for entities


def read_tasks(path: StrPath) -> Iterator[Labelled]:
    """Read the tasks of a file, in their order, each with its first annotation that is not cancelled.

    Without annotations it is the first prediction. What is no label of a span of text is left out, and counted.
    Raises CorpusError, with the number of the task, on one without a text, and on labels outside of it.
    """
    try:
        tasks = parse_json(read_whole(path))
    except ValueError as error:
        raise CorpusError(path, 0, f"is broken JSON: {error}", hint="export it again from Label Studio") from error
    counts, last = Counter[str](), None
    for number, task in enumerate(tasks, 1):
        try:
            minimal = "data" not in task
            text = (task if minimal else task["data"])["text"]
            if minimal and last is not None and task.get("id") == last:  # JSON-MIN has one for each annotation
                counts["further annotations of tasks"] += 1
                continue
            last = task.get("id")
            results = _of_minimal(task) if minimal else _of_task(task, counts)
            marks = [mark for result in results for mark in _marks(result, text, counts)]
            texts = [text, *(part for mark in marks for part in (mark.name, *mark.key))]
            "".join(texts).encode()  # raises for surrogates
            yield Labelled(number, text, words_of(text), marks)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            what = f"task {number} is no text with labels{f': {error}' if type(error) is ValueError else ''}"
            raise CorpusError(path, number, what, hint="tasks have data.text, as of Label Studio's <Text>") from error
    warn_of_left_out(path, counts)


def _of_minimal(task: Any) -> Iterator[Any]:
    """The results of a task of JSON-MIN, where lists of labels have the name of their control."""
    for name, values in task.items():
        for value in values if isinstance(values, list) else ():
            if isinstance(value, dict) and "labels" in value:
                yield {"type": "labels", "from_name": name, "value": value}


def _of_task(task: Any, counts: Counter[str]) -> Any:
    annotations = task.get("annotations") or []
    valid = [one for one in annotations if not one.get("was_cancelled")]
    counts.update({"cancelled annotations": len(annotations) - len(valid)} if len(valid) < len(annotations) else {})
    valid = valid or (task.get("predictions") or [] if not annotations else [])
    counts.update({"further annotations of tasks": len(valid) - 1} if len(valid) > 1 else {})
    return valid[0]["result"] if valid else []


def _marks(result: Any, text: str, counts: Counter[str]) -> Iterator[Mark]:
    if result["type"] != "labels" or "start" not in result["value"]:
        counts[f"results of type {result['type']}"] += 1
        return
    value, names = result["value"], _DEFAULT_NAMES
    start, end, own = value["start"], value["end"], value.get("text")
    if not (type(start) is type(end) is int and 0 <= start < end):
        raise ValueError(f"a label from {start} to {end}")
    if own is not None and not _same(text[start:end], own):
        units = text.encode("utf-16-le")
        start, end = (len(units[: 2 * place].decode("utf-16-le", "ignore")) for place in (start, end))
        if not _same(text[start:end], own):
            counts["labels whose text is not at their place"] += 1
            return
    if end > len(text):
        raise ValueError(f"a label ends at {end}, after {len(text)} characters")
    key = result.get("from_name", names[0]), result.get("to_name", names[1])
    if not isinstance(value["labels"], list):
        raise ValueError("labels that are no list")
    yield from (Mark(start, end, str(label), key) for label in value["labels"])


def _same(one: str, other: str) -> bool:
    return one.split() == other.replace("\\n", " ").split()


def write_tasks(stream: BinaryIO, texts: Iterable[Labelled], *_: object) -> None:
    """Write a task for each text, with its spans as a prediction, which Label Studio shows as labels to be checked."""
    tasks = []
    for one in texts:
        results = []
        for number, mark in enumerate(one.marks or (), 1):
            names = dict(zip(("from_name", "to_name"), mark.key or _DEFAULT_NAMES, strict=True))
            value = {"start": mark.start, "end": mark.end, "text": one.text[mark.start : mark.end]}
            results.append({"id": str(number), "type": "labels", **names, "value": {**value, "labels": [mark.name]}})
        task = {"data": {"text": one.text}, "predictions": [{"model_version": "aligner", "result": results}]}
        tasks.append(json.dumps(task, ensure_ascii=False))
    stream.write("[\n{}\n]\n".format(",\n".join(tasks)).encode())


FORMATS = [
    Format(
        "json",
        knows=lambda lines, _: _BEGINS.match(b"\n".join(lines)),
        read=read_tasks,
        write_labels=write_tasks,
        only_spans=True,
    )
]
