"""Whether apostrophes are letters of a text, as in many languages, or stand between words, as in English or French."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice

from corpora.corpus import Corpus
from corpora.normalize import APOSTROPHES, Normalizer, Normalizers

MOST_LINES = 10_000
"""Lines of a text that are looked at."""

FEWEST_FORMS = 20
"""Distinct forms with an apostrophe inside, below which a text says nothing."""

# Of texts in 120 languages those with elided words or endings (l'eau, don't) have more than 0.6 of their forms with
# one of five parts, or else words that are in the text without an apostrophe as well (İstanbul'un, n'obu).
_OF_FIVE, _FREE = 0.6, 0.15

_LETTERS = r"(?:[^\W\d_][\u0300-\u036f]*)+"
_FORM = re.compile(rf"({_LETTERS})[{APOSTROPHES}]({_LETTERS})")
_WORD = re.compile(rf"(?<![\w{APOSTROPHES}\u0300-\u036f]){_LETTERS}(?![\w{APOSTROPHES}])")


def are_letters(lines: Iterable[str]) -> bool:
    """Whether apostrophes between letters of a text are letters themselves, by what is around them.

    They stand between words where few parts are in most of the forms, or if the other part is mostly a word too.
    """
    forms: set[tuple[str, str]] = set()
    words: set[str] = set()
    for line in lines:
        folded = line.casefold()
        words.update(_WORD.findall(folded))
        forms.update(_FORM.findall(folded))
    if len(forms) < FEWEST_FORMS:
        return False
    counts = [Counter(form[side] for form in forms) for side in (0, 1)]
    of_five = max(sum(count for _, count in each.most_common(5)) for each in counts)
    longer = [max(form, key=len) for form in forms]
    free = sum(len(part) > 2 and part in words for part in longer)
    return of_five < _OF_FIVE * len(forms) and free < _FREE * len(forms)


def tokenizing(tokenize: bool, keep: str | None, texts: Sequence[Corpus]) -> Normalizers:
    """Normalizers that tokenise text, or do not.

    keep: see `Normalizer`; of both sides, or divided by a comma.  None: apostrophes, if `are_letters` of the texts,
    which are then read more than once.
    Raises SettingError as `Normalizer` does, CorpusError on texts that are broken at their beginning.
    """
    if not tokenize and keep is None:
        return Normalizer(), Normalizer()
    if keep is not None:
        kept = keep.split(",") if keep.count(",") == 1 else [keep, keep]
    else:
        lines = chain.from_iterable(text.texts() for text in texts)
        sides = [*zip(*((source, target) for _, source, target in islice(lines, MOST_LINES)), strict=True)] or [(), ()]
        kept = [APOSTROPHES * are_letters(line.decode(errors="replace") for line in side) for side in sides]
    source, target = (Normalizer(tokenize=tokenize, keep=each) for each in kept)
    return source, target


def as_option(normalizers: Normalizers) -> str:
    """What `tokenizing` takes as `keep` for these normalizers."""
    source, target = (normalizer.keep for normalizer in normalizers)
    return source if source == target else f"{source},{target}"
