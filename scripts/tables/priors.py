"""What small texts gain by priors and by dictionaries."""

import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from gold import Labelled
from gold_sets import SETS

import aligner
from aligner import AlignSettings
from aligner.model import unsupervised
from corpora.bitext import read_bitext
from corpora.normalize import PLAIN
from corpora.readers import open_corpus
from corpora.stemming import stemming
from features.translation.priors import Priors, format_priors, format_table
from tables import DATA, markdown, table

PAIRS, OTHERS, REPEATS = 50_000, 1_000, 3

DICTIONARIES = {
    "en-tr": ("eng-tur", "tur-eng"),
    "xl-wa, hu": ("eng-hun", "hun-eng"),
    "xl-wa, bg": ("eng-bul",),
    "xl-wa, es": ("eng-spa", "spa-eng"),
    "xl-wa, sl": ("slv-eng",),
    "xl-wa, ru": ("eng-rus",),
}
"""Gold sets, and FreeDict's dictionaries by their languages."""


@table("priors")
def priors(data: Path = DATA, priors: tuple[str, ...] = (), folder: Path | None = None) -> str:
    """A small text of the Hansards alone, after priors, and by a model.

    The pairs of priors are the first of the corpus; those that are aligned come next, with hansards/gold-train after
    them.  folder: where the text of the priors is written, as text.en and text.fr.
    priors: NAME=FILE, priors of other programs from that text.
    """
    hansards, folder = data / "hansards", folder or Path(tempfile.mkdtemp())
    texts, gold = (
        [[side.decode() for side in sides] for _, *sides in islice(open_corpus(hansards / name).texts(), most)]
        for name, most in (("train", PAIRS + OTHERS), ("gold-train", None))
    )
    few = [(source.split(), target.split()) for source, target in (*texts[PAIRS:], *gold)]
    files = [str(folder / f"text.{side}") for side in ("en", "fr")]
    for file, lines in zip(files, zip(*texts[:PAIRS], strict=True), strict=True):
        Path(file).write_text("".join(f"{line}\n" for line in lines), "utf-8")

    def measure(align: Callable[..., Any], **settings: Any) -> list[str]:
        seconds = []
        for _ in range(REPEATS + 1):  # kernels are compiled in the first
            began = time.process_time()
            found = [*align(few, **settings)]
            seconds.append(time.process_time() - began)
        error = 100 * aligner.evaluate(hansards / "gold-train.wa", found[-len(gold) :]).aer
        return [f"{error:.2f}", f"{median(seconds[1:]):.2f}"]

    began = time.process_time()
    model = aligner.train(files).model
    print(f"model of {PAIRS:,} pairs: {time.process_time() - began:.1f} CPU seconds")
    counted = Priors.from_model(model.statistics.translation)
    ours = {"`aligner priors`": format_priors(counted), "`aligner priors --to fast-align`": format_table(counted.links)}
    named = {"nothing": None}
    for number, (name, lines) in enumerate(ours.items()):
        named[name] = str(folder / f"priors{number}")
        Path(named[name]).write_text("".join(lines), "utf-8")
    named |= dict(one.split("=", 1) for one in priors)
    rows = []
    for name, file in named.items():
        ways = AlignSettings(priors=file), AlignSettings(priors=file, unsupervised=0.5)
        rows.append([name, *(cell for settings in ways for cell in measure(aligner.align, settings=settings))])
        print(rows[-1])
    rows.append(["the model itself, `-m`", *measure(model.align_many), "", ""])
    return markdown(["begins with", "AER", "CPU s", "AER, `--unsupervised`", "its CPU s"], rows)


@table("dictionary")
def dictionary(data: Path = DATA, dictionaries: Path = Path("/usr/share/dictd")) -> str:
    """What little text gains by lemmas, and by dictionaries with both forms.

    The default weights have learnt from none of these gold sets. Lemmas need simplemma.
    dictionaries: folder of those of Debian's packages dict-freedict-*.
    """
    rows = []
    for name, pairs in DICTIONARIES.items():
        labelled = Labelled.open(data, SETS[name])
        files = tuple(str(dictionaries / f"freedict-{languages}.index") for languages in pairs)
        stemmed = read_bitext(labelled.corpora, *stemming(PLAIN, labelled.corpora[0]))
        errors = []
        for text, given, lemmas in (
            (labelled.bitext, (), False),
            (stemmed, (), False),
            (labelled.bitext, files, False),
            (labelled.bitext, files, True),
        ):
            with (
                nullcontext() if lemmas else patch("features.forms.find_lemmatizer", return_value=None),
                warnings.catch_warnings(action="ignore"),  # of what is left out of a dictionary
            ):
                found = unsupervised.align(text, settings=AlignSettings(dictionary=given))
            errors.append(labelled.aer(found.links))
        rows.append([name, f"{len(labelled.links):,}", " ".join(pairs), *(f"{error:.1f}" for error in errors)])
        print(rows[-1], flush=True)
    ways = "with --stem alone", "with it, forms by beginnings", "with it, forms by lemmas"
    return markdown(["gold set", "pairs of text", "FreeDict", "without", *ways], rows, words=3)
