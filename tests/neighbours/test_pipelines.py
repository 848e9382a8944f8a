"""The program inside OpusTrainer, OpusFilter and machine.py, with real text."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from commands import run, write
from neighbours.environments import environment, environment_with_ours

pytestmark = pytest.mark.nightly

EFLOMAL, OPUSTRAINER, OPUSFILTER = "eflomal==2.0.0", "opustrainer==0.5", "opusfilter==3.3.1"
MACHINE_JOBS = "sil-machine[jobs,thot]==1.9.2"
LINES = 20_000


@pytest.fixture(scope="module")
def text(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first pairs of the Hansards, as two files."""
    folder = tmp_path_factory.mktemp("text")
    for side in ("en", "fr"):
        with gzip.open(data / "hansards" / f"train.{side}.gz", "rt", encoding="utf-8") as file:
            (folder / f"t.{side}").write_text("".join(islice(file, LINES)), "utf-8")
    return folder


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").removesuffix("\n").split("\n")


def test_training_set_of_opustrainer(text: Path, tmp_path: Path) -> None:
    """Line by line the same pairs, links in range and sorted; tags at as many lines, within a tenth."""
    eflomal_there, trainer = environment("eflomal", EFLOMAL), environment("opustrainer", OPUSTRAINER)
    sides = [text / f"t.{side}" for side in ("en", "fr")]
    eflomal_there.run(
        eflomal_there.command("eflomal-align"),
        "-s",
        sides[0],
        "-t",
        sides[1],
        "-f",
        tmp_path / "F",
        "-r",
        tmp_path / "R",
    )
    links = {
        "eflomal": run("atools", "-i", tmp_path / "F", "-j", tmp_path / "R", "-c", "grow-diag-final-and").stdout,
        "ours": run("align", *sides, "-q").stdout,
    }
    pairs = [*zip(*map(lines_of, sides), strict=True)]
    tagged = dict[str, list[str]]()
    for name, answer in links.items():
        rows = answer.splitlines()
        assert len(rows) == LINES
        for (source, target), row in zip(pairs, rows, strict=True):
            found = [tuple(map(int, link.split("-"))) for link in row.split()]
            assert found == sorted({*found})
            lengths = len(source.split()), len(target.split())
            assert all(0 <= link[side] < lengths[side] for link in found for side in (0, 1))
        write(tmp_path / f"{name}.tsv", *("\t".join([*pair, row]) for pair, row in zip(pairs, rows, strict=True)))
        out = tmp_path / f"{name}.out"
        config = [f"datasets: {{clean: {tmp_path / name}.tsv}}", "stages: [start]", "start: [clean 1, until clean 1]"]
        config += ["modifiers: [Tags: 0.1]", "seed: 1", "num_fields: 3", f"trainer: bash -c 'cat > {out}'"]
        write(tmp_path / f"{name}.yml", *config)
        options = "-d", "--no-shuffle", "--workers", 1, "--state", tmp_path / f"{name}.state"
        trainer.run(trainer.command("opustrainer-train"), "-c", tmp_path / f"{name}.yml", *options)
        tagged[name] = lines_of(out)
        without = sum(not row for row in rows)
        assert LINES - without - 100 <= len(tagged[name]) <= LINES - without + 100, "it leaves out pairs without links"
    shares = [sum("__target__" in line for line in lines) / LINES for lines in tagged.values()]
    assert abs(shares[0] - shares[1]) < 0.1


PIPELINE = """
import json, sys
from opusfilter.opusfilter import OpusFilter
OpusFilter(json.load(sys.stdin)).execute_steps()
print(json.dumps("done"))
"""


def steps(words: dict[str, Any]) -> list[dict[str, Any]]:
    """A pipeline as OpusFilter's documentation builds it: duplicates, simple filters, then words, and their scores."""
    simple = [
        {"LengthFilter": {"unit": "word", "min_length": 1, "max_length": 100}},
        {"LengthRatioFilter": {"unit": "word", "threshold": 3}},
        {"LongWordFilter": {"threshold": 40}},
        {"AlphabetRatioFilter": {"threshold": 0.4}},
    ]
    names = [[f"{name}.en", f"{name}.fr"] for name in ("t", "once", "simple", "words")]
    made = [
        {"type": "remove_duplicates", "parameters": {"inputs": names[0], "outputs": names[1]}},
        {"type": "filter", "parameters": {"inputs": names[1], "outputs": names[2], "filters": simple}},
        {"type": "filter", "parameters": {"inputs": names[2], "outputs": names[3], "filters": [words]}},
        {"type": "score", "parameters": {"inputs": names[3], "output": "scores.jsonl", "filters": [words]}},
    ]
    if "WordAlignFilter" in words:
        texts = {"src_data": "clean.en", "tgt_data": "clean.fr"}
        made.insert(2, {"type": "train_alignment", "parameters": {**texts, "parameters": {}, "output": "priors"}})
    return made


def test_pipeline_of_opusfilter(text: Path, tmp_path: Path) -> None:
    """By eflomal, by ours in its place, and by our own filter.

    Of a text half of whose targets belong to other sources each keeps some pairs, in their order; more good ones than
    bad.  With the default thresholds of 0 eflomal refuses nearly all pairs, ours in its place few.
    """
    n = 2000
    source, target = (lines_of(text / f"t.{side}")[: 2 * n] for side in ("en", "fr"))
    texts = {"t.en": source, "t.fr": [*target[:n], *target[n + 1 :], target[n]]}
    texts |= {"clean.en": source[:n], "clean.fr": target[:n]}
    (tmp_path / "shim").mkdir()
    write(tmp_path / "shim" / "eflomal.py", "from aligner.eflomal import *")
    ours = environment_with_ours("opusfilter-ours", OPUSFILTER)
    by_ours = f"{tmp_path / 'shim'}{os.pathsep}{ours.variables['PYTHONPATH']}"
    by_eflomal = {"WordAlignFilter": {"priors": "priors", "src_threshold": 0, "tgt_threshold": 0}}
    of_ours = {"AlignerFilter": {"model": "M", "fit": -6.0, "linked": 0.4}, "module": "aligner.opusfilter"}
    pairs, kept = [*zip(texts["t.en"], texts["t.fr"], strict=True)], dict[str, list[tuple[str, str]]]()
    first = {pair: place for place, pair in reversed([*enumerate(pairs)])}
    for name, there, words in (
        ("eflomal", environment("opusfilter-eflomal", OPUSFILTER, EFLOMAL), by_eflomal),
        ("place", replace(ours, variables={"PYTHONPATH": by_ours}), by_eflomal),
        ("ours", ours, of_ours),
    ):
        folder = tmp_path / name
        folder.mkdir()
        for file, lines in texts.items():
            write(folder / file, *lines)
        if name == "ours":
            run("train", folder / "clean", "-m", folder / "M", "-q")
        there.ask(PIPELINE, {"common": {"output_directory": str(folder)}, "steps": steps(words)})
        kept[name] = [*zip(lines_of(folder / "words.en"), lines_of(folder / "words.fr"), strict=True)]
        assert len(lines_of(folder / "scores.jsonl")) == len(kept[name])
        places = [first[pair] for pair in kept[name]]
        assert places == sorted(places)
        assert 2 * sum(place < n for place in places) > len(places) > n / 100, name
    assert len(kept["eflomal"]) < n / 10 < n / 2 < len(kept["place"])


EMPTY = """
import json, sys
from opusfilter.word_alignment import WordAlignFilter
chosen = WordAlignFilter()
pairs = [tuple(pair) for pair in json.load(sys.stdin)]
print(json.dumps([list(chosen.score(pairs)), list(chosen.decisions(pairs))]))
"""


def test_empty_pairs_in_opusfilter() -> None:
    """Its filter keeps a pair of two empty sides, and refuses one empty side; ours gives both the worst scores."""
    pairs = [("a house", "une maison"), ("", ""), ("a house", ""), ("", "une maison")] * 250
    scores, kept = environment("opusfilter-eflomal", OPUSFILTER, EFLOMAL).ask(EMPTY, pairs)
    assert scores[1::4] == [[-100, -100]] * 250
    assert scores[2::4] == scores[3::4] == [[0.0, 0.0]] * 250
    assert [kept[n::4] for n in (1, 2, 3)] == [[True] * 250, [False] * 250, [False] * 250]


JOB = """
import json, pathlib, sys
from machine.corpora import AlignedWordPair
from machine.jobs.shared_file_service_factory import SharedFileServiceType
from machine.jobs.word_alignment_build_job import WordAlignmentBuildJob
from machine.jobs.word_alignment_file_service import WordAlignmentFileService
from machine.jobs.word_alignment_model_factory import WordAlignmentModelFactory
from aligner.machine import AlignerTrainer, AlignerWordAlignmentModel

class Config(dict):
    __getattr__ = dict.__getitem__

class Factory(WordAlignmentModelFactory):
    def create_model_trainer(self, tokenizer, corpus):
        self._model_dir.mkdir(parents=True, exist_ok=True)
        lower = corpus.lowercase()
        return AlignerTrainer(lower, self._model_dir / "M", source_tokenizer=tokenizer, target_tokenizer=tokenizer)

    def create_alignment_model(self):
        return AlignerWordAlignmentModel(self._model_dir / "M")

folder, batch = json.load(sys.stdin)
config = Config(data_dir=folder + "/data", shared_file_folder="d", shared_file_uri=folder + "/shared", build_id="b",
    inference_batch_size=batch, thot_align=Config(tokenizer="latin"))
files = WordAlignmentFileService(SharedFileServiceType.LOCAL, config)
trained = WordAlignmentBuildJob(config, Factory(config), files).run()
(output,) = pathlib.Path(folder, "shared").rglob("word_alignments.outputs.json")
rows = json.loads(output.read_text())
for row in rows:
    row["links"] = [[pair.source_index, pair.target_index] for pair in AlignedWordPair.from_string(row["alignment"])]
print(json.dumps([trained, rows]))
"""


def test_job_of_machine(text: Path, tmp_path: Path) -> None:
    """Its job of word alignment, with a factory of our model; it aligns the first batch of inputs and no other."""
    n, batch = 2000, 64
    folder = tmp_path / "shared" / "builds" / "b"
    folder.mkdir(parents=True)
    sides = [lines_of(text / f"t.{side}")[:n] for side in ("en", "fr")]
    for side, lines in zip(("src", "trg"), sides, strict=True):
        write(folder / f"train.{side}.txt", *lines)
        write(folder / f"train.key-terms.{side}.txt", lines[0])
    inputs = [
        {"corpusId": "c", "textId": "t", "sourceRefs": [f"{k}"], "targetRefs": [f"{k}"], "source": one, "target": other}
        for k, (one, other) in enumerate(zip(*sides, strict=True))
    ]
    (folder / "word_alignments.inputs.json").write_text(json.dumps(inputs[: 2 * batch]), "utf-8")
    there = environment_with_ours("machine-jobs", MACHINE_JOBS)
    trained, rows = there.ask(JOB, [str(tmp_path), batch])
    assert trained == n + 1
    assert [row["sourceRefs"] for row in rows] == [[f"{k}"] for k in range(batch)]
    for row in rows:
        found = [tuple(link) for link in row["links"] if min(link) >= 0]
        lengths = len(row["sourceTokens"]), len(row["targetTokens"])
        assert found
        assert all(link[side] < lengths[side] for link in found for side in (0, 1))
