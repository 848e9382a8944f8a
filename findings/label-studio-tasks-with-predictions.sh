#!/usr/bin/env bash
# label-studio-sdk 2.1.2.
# Behaviour: `LabelInterface.validate_task` raises a TypeError for each task that has predictions, right or wrong: it
# calls its own `validate_prediction` without the prediction, even where the list is empty. Without the list it answers.
# One expects otherwise, since `predictions` is a documented part of a task, for labels that a program suggests, and
# `validate_prediction(prediction)` of the same class finds these to be right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check label-studio-sdk==2.1.2
"$work/env/bin/python" - << 'END'
import sys

from label_studio_sdk.label_interface import LabelInterface

CONFIG = '<View><Labels name="l" toName="t"><Label value="PLACE"/></Labels><Text name="t" value="$text"/></View>'
RESULT = {
    "from_name": "l", "to_name": "t", "type": "labels",
    "value": {"start": 3, "end": 7, "text": "Rome", "labels": ["PLACE"]},
}
interface = LabelInterface(CONFIG)
prediction = {"model_version": "a", "score": 0.9, "result": [RESULT]}
found = [interface.validate_prediction(prediction)]
print("the prediction alone:", found[0])
for further in ({}, {"predictions": []}, {"predictions": [prediction]}):
    try:
        found.append(bool(interface.validate_task({"data": {"text": "in Rome"}, **further})))
    except TypeError as error:
        found.append("TypeError" if "validate_prediction" in str(error) else error)
    print("a task with", further or "text alone", found[-1])
sys.exit(0 if found == [True, True, "TypeError", "TypeError"] else "this has changed")
END
