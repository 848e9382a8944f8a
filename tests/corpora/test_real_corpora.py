"""Every corpus of the data folder opens with the numbers its README gives."""

from pathlib import Path

import pytest
from readings import refuses

from corpora.bitext import read_bitext
from corpora.link_files import read_links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus

GOLD = [
    ("hansards/gold-train", "en", 100), ("hansards/gold-dev", "en", 100), ("hansards/gold-trial", "en", 37),
    ("europarl/gold", "en", 100), ("cs-en/gold-train", "en", 200), ("cs-en/gold-dev", "en", 300),
    ("en-es/gold", "en", 200), ("fr-en-stories/gold", "fr", 522), ("fr-en-stories", "fr", 522),
    ("formats/trial.naacl", "e", 37), ("formats", "e", 37),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source", "n_pairs"), GOLD)
def test_gold_sets(data: Path, name: str, source: str, n_pairs: int) -> None:
    corpus = open_corpus(data / name, source=source)
    assert corpus.source_language == source
    links = list(corpus.links())
    assert len(links) == len(list(corpus.texts())) == n_pairs
    assert any(pair.sure for pair in links)


@pytest.mark.parametrize(("name", "source"), [(name, source) for name, source, _ in GOLD])
def test_swapped_gold_sets_are_refused(data: Path, name: str, source: str) -> None:
    corpus = open_corpus(data / name, target=source)
    with refuses(r"out of range .* \(are source and target swapped, or"):
        list(corpus.links())


@pytest.mark.parametrize("system", ["forward", "reverse", "intersection", "union", "grow-diag"])
@pytest.mark.parametrize("part", ["train", "dev"])
def test_links_of_other_systems_fit_the_text(data: Path, part: str, system: str) -> None:
    bitext = read_bitext([open_corpus(data / "hansards" / f"gold-{part}")], Normalizer(), Normalizer())
    lengths = zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True)
    links = read_links(data / "hansards" / f"giza-{part}.{system}", lengths=lengths)
    assert len(links) == 100
    assert links.sure.all()


def test_giza_files(data: Path) -> None:
    for name, n_pairs in (("en-nl", 1000), ("sv-en", 10)):
        corpus = open_corpus(data / "giza" / f"{name}.A3.final")
        assert len(list(corpus.links())) == len(list(corpus.texts())) == n_pairs
    genuine, text = open_corpus(data / "giza" / "en-nl.A3.final"), open_corpus(data / "giza")
    assert [[line.split() for line in pair[1:]] for pair in genuine.texts()] == [
        [line.split() for line in pair[1:]] for pair in text.texts()
    ]


@pytest.mark.slow
def test_comtrans(data: Path) -> None:
    corpus = open_corpus(data / "comtrans-de-en")
    links = list(corpus.links())
    assert len(links) == len(list(corpus.texts())) == 23_580
    assert sum(len(pair.sure) for pair in links) == 501_578


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_pairs", "millions"),
    [
        pytest.param("hansards/train", 674_324, (13.5, 16.0), marks=pytest.mark.nightly),
        pytest.param("europarl/train", 1_830_235, (45.9, 53.0), marks=pytest.mark.nightly),
        ("en-es/train", 12_037, None),
    ],
)
def test_training_texts(data: Path, name: str, n_pairs: int, millions: tuple[float, float] | None) -> None:
    bitext = read_bitext([open_corpus(data / name)], Normalizer(), Normalizer())
    assert len(bitext) == n_pairs
    if millions is not None:
        assert (round(len(bitext.source.ids) / 1e6, 1), round(len(bitext.target.ids) / 1e6, 1)) == millions
