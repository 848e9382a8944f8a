"""Imported by the process that forks children: loads all that the commands use, and their kernels."""

import tempfile
from pathlib import Path

from commands import invoke

import corpora

_SAMPLE = Path(corpora.__file__).parent / "sample"
with tempfile.TemporaryDirectory() as _folder:
    _model = Path(_folder, "a.model")
    invoke("train", _SAMPLE / "test", "-m", _model, "--set", "cross_validate=0", "-q")
    for _more in ("-m", _model), ("--unsupervised",), ():
        invoke("align", _SAMPLE / "test.en", _SAMPLE / "test.fr", *_more, "-q")
