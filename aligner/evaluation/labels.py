"""Precision, recall and F1 of labelled spans, as conlleval counts them, or the accuracy of labels of words."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from corpora.formats.conll import spans_of


class LabelCounts(NamedTuple):
    """How often a label was found, is in gold, and both."""

    found: int
    gold: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.found + self.gold) if self.right else 0.0


def count_labels(sentences: Iterable[tuple[Sequence[str], Sequence[str]]], *, spans: bool) -> dict[str, LabelCounts]:
    """Count the labels of each sentence, found and gold, by name, and ``all``.

    spans: of tags, which are right if words and type are; otherwise each word has a label, and ``_`` is none.
    """
    return count_spans(
        (
            {*spans_of(labels)} if spans else {(n, n, label) for n, label in enumerate(labels) if label != "_"}
            for labels in both
        )
        for both in sentences
    )


def count_spans(texts: Iterable[Iterable[Set[tuple[int, int, str]]]]) -> dict[str, LabelCounts]:
    """Count the spans of each text, found and gold, by name, and ``all``: those that are right are in both."""
    counts = Counter[str](), Counter[str](), Counter[str]()
    for found, gold in texts:
        for count, spans in zip(counts, (found, gold, found & gold), strict=True):
            count.update(name for _, _, name in spans)
    by_name = {name: LabelCounts(*(count[name] for count in counts)) for name in sorted(counts[0] | counts[1])}
    return {**by_name, "all": LabelCounts(*(count.total() for count in counts))}
