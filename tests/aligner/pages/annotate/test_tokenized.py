"""Text with punctuation attached to words is annotated, and learnt from, in tokens."""

from __future__ import annotations

from pathlib import Path

from commands import write

from aligner.model.settings import AlignSettings
from aligner.pages.annotate.annotation import Annotation, read_text
from aligner.pages.annotate.session import Session, model_of_text
from corpora.readers import open_corpus, open_texts


def test_gold_of_raw_text_is_of_its_tokens(tmp_path: Path) -> None:
    """And the model that is made splits text as they are split."""
    for end, line in (("en", "A house, red."), ("fr", "Une maison, rouge.")):
        write(tmp_path / f"raw.{end}", *[line] * 3)
    corpus = open_texts(tmp_path / "raw.en", tmp_path / "raw.fr")
    model = model_of_text(corpus, AlignSettings(tokenize=True))
    session = Session(read_text(corpus, model), model, str(tmp_path / "gold"), order="given")
    try:
        work = Annotation(sure=frozenset({(2, 2)}), null=(frozenset(), frozenset()), status="accepted").to_json()
        session.save({"pair": 0, "revision": 0, "work": work})
    finally:
        session.close()
    lines = [(tmp_path / f"gold.{end}").read_text() for end in ("en", "fr", "wa")]
    assert lines == ["A house , red .\n", "Une maison , rouge .\n", "2-2\n"]
    assert all(side.tokenize for side in model.normalizers)
    assert list(open_corpus(tmp_path / "gold", source="en", target="fr").links())
