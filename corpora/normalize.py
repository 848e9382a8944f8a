"""Normalise raw tokens to the words that are counted (NFC, case, stems), and tokenise if wanted."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate, pairwise

from anyascii import anyascii

from corpora import SettingError
from corpora.inline.tokens import UNSPACED, fine_tokens
from corpora.lemmas import find_lemmatizer
from corpora.threads import shared_property

SNOWBALL_CODES = {
    "ar": "arabic", "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish",
}  # fmt: skip
LEMMAS = "lemmas:"
"""What begins a `Normalizer.stem` that is of a lemmatiser, before its language."""

# Letters that have no decomposition into a base letter and a mark.
_WRITTEN_OUT = {"æ": "ae", "œ": "oe", "ß": "ss", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i"}
_WRITTEN_OUT |= {"Æ": "AE", "Œ": "OE", "ẞ": "SS", "Ø": "O", "Ł": "L", "Đ": "D", "Ð": "D", "Þ": "TH", "Ħ": "H"}
_latin = cache(lambda c: anyascii(c) if c.isalpha() else c)

SPACE = "\u2581"
"""The character that SentencePiece and others write for a space."""

APOSTROPHES = "'’‘"
"""Characters that are letters in the words of some languages, and in others stand between two words."""

# A full stop inside a line, with what is written before it, quotes and brackets that it closes, and what begins next.
_STOP = re.compile(r"""(?<!\S)(\S+?)\.(?=["'’”»›)\]]*\s+["'‘’“”„«»‹›(\[¿¡]*([^\W\d_]))""")
_BREAKS = re.compile(r"""["'‘’“”„«»‹›()\[\]{}<>/–—-]""")
_CONSONANTS = "b-df-hj-np-tv-xz"
_ABBREVIATED = re.compile(f"[IVXLCDM]+|[{_CONSONANTS.upper()}{_CONSONANTS}]+[{_CONSONANTS}]")  # XIV, Mr, but not BBC
_TITLES = frozenset(
    "capt col dipl doc dott gen gov hon ing lic mag maj mme mlle prof rep rev sen sig sra srta univ avv".split()
)


def _split_stop(found: re.Match[str], lowered: bool) -> str:
    """The match with a space before its full stop, if this ends a sentence and not an abbreviation or a number.

    lowered: sentences do not begin with capitals.
    """
    before, begins = found.groups()
    *_, word = _BREAKS.split(before)
    short = len(word) == 1 and not before.endswith(("'" + word, "’" + word))  # J. Smith, but not: don't.
    number = word.isdecimal() and len(word) < 3  # 3. Oktober
    abbreviated = word.casefold() in _TITLES or _ABBREVIATED.fullmatch(word)
    ends = word and "." not in word and not (begins.islower() > lowered or short or number or abbreviated)
    return f"{before} ." if ends else found[0]


_BEFORE = r"(?<=[^\W\d_]|[\u0300-\u036f])"
_CYRILLIC = r"(?<=[\u0400-\u052f\u0301])['’](?=[\u0400-\u052f])"


@cache
def _unmarked(c: str) -> str:
    # A letter with a stroke may carry a mark too (ǿ): it shows only once that mark is split off.
    parts = unicodedata.normalize("NFD", c)
    return "".join(_WRITTEN_OUT.get(part, part) for part in parts if not unicodedata.combining(part))


def unaccented(word: str) -> str:
    """The word without its combining marks, ligatures and letters with strokes written out.

    >>> unaccented("Œuvre"), unaccented("naïve"), unaccented("Łódź")
    ('OEuvre', 'naive', 'Lodz')
    """
    return word if word.isascii() else "".join(map(_unmarked, word))


def romanized(word: str) -> str:
    """The word without accents, letters of other scripts spelt in Latin ones.

    >>> romanized("Москва"), romanized("αθήνα"), romanized("北京"), romanized("naïve")
    ('Moskva', 'athina', 'beijing', 'naive')
    """
    plain = unaccented(word)
    spelt = "".join(map(_latin, plain))
    return spelt.lower() if plain == plain.lower() else spelt  # what has no case gets capitals


@dataclass(frozen=True)
class Normalizer:
    """Splits a line into tokens, and normalises a token to the word that is counted.

    casefold: Unicode case folding.  tokenize: split with nltk's Toktok instead of at ASCII whitespace only, also full
    stops within a line, and take each UNSPACED character for a word.  stem: Snowball language, by name or ISO 639-1
    code, or LEMMAS and a code, for lemmas of `find_lemmatizer`; None keeps words whole.  keep: characters that stay
    inside words where they are between letters, as apostrophes between Cyrillic letters always do.  fine: split by
    `corpora.inline.tokens` instead of Toktok.
    Raises SettingError if there is no stemmer or lemmatiser for the language, and for `keep` without effect.
    """

    casefold: bool = True
    tokenize: bool = False
    stem: str | None = None
    keep: str = ""
    fine: bool = False

    def __post_init__(self) -> None:
        if self.fine and not self.tokenize:
            raise SettingError("`fine` has no effect without `tokenize`")
        if self.keep and not self.tokenize:
            raise SettingError("`keep` has no effect without `tokenize`")
        if any(c.isalnum() or c.isspace() for c in self.keep):
            raise SettingError(f"`keep` names characters that are no letters, digits or spaces, not {self.keep!r}")
        if self.stem is not None and self.stem.startswith(LEMMAS):
            language = self.stem.removeprefix(LEMMAS)
            if find_lemmatizer(language) is None:
                raise SettingError(f"no lemmatiser for the language '{language}' (install aligner[lemmas])")
        elif self.stem is not None and self.stem not in {*SNOWBALL_CODES, *SNOWBALL_CODES.values()}:
            known = ", ".join(f"{code} ({name})" for code, name in SNOWBALL_CODES.items())
            raise SettingError(f"no stemmer for the language '{self.stem}' (known are {known})")

    def __reduce__(self) -> "tuple[type[Normalizer], tuple[bool, bool, str | None, str, bool]]":
        # Without the functions made of them.
        return Normalizer, (self.casefold, self.tokenize, self.stem, self.keep, self.fine)

    @shared_property
    def _stem(self) -> Callable[[str], str]:
        name = self.stem or ""
        if lemmatizer := find_lemmatizer(name.removeprefix(LEMMAS)) if name.startswith(LEMMAS) else None:
            lemmas = lemmatizer.lemmas
            return lambda word: next(iter(lemmas(word)), word)
        from nltk.stem.snowball import SnowballStemmer

        fresh = SnowballStemmer(SNOWBALL_CODES.get(name, name)).stemmer
        # Of nltk's stemmers some keep what they found in one word for the next: Arabic stems depend on the word before.
        return lambda word: str(copy(fresh).stem(word))

    @shared_property
    def _tokenize(self) -> Callable[[str], list[str]]:
        if self.fine:
            return fine_tokens
        from nltk.tokenize.toktok import ToktokTokenizer

        tokenizer = ToktokTokenizer()
        # These rules escape or lose characters; without them tokens are always pieces of the line.
        unfaithful = (tokenizer.AMPERCENT, tokenizer.TAB, tokenizer.PIPE, tokenizer.URL_FOE_3)
        faithful = [rule for rule in tokenizer.TOKTOK_REGEXES if rule not in unfaithful]
        tokenizer.TOKTOK_REGEXES = [(tokenizer.PIPE[0], " | "), *faithful]
        letters = rf"{_BEFORE}[{re.escape(self.keep)}](?=[^\W\d_])|" if self.keep else ""
        kept = re.compile(f"{letters}{_CYRILLIC}")

        def tokenize(line: str) -> list[str]:
            line = line.strip()
            masked = kept.sub("x", line)  # a letter that no rule splits off
            split = partial(_split_stop, lowered=line.islower())
            tokens: list[str] = tokenizer.tokenize(_STOP.sub(split, UNSPACED.sub(r" \g<0> ", masked)))
            if masked == line:
                return tokens
            whole, ends = "".join(line.split()), accumulate(map(len, tokens), initial=0)
            return [whole[start:end] for start, end in pairwise(ends)]

        return tokenize

    def tokens(self, line: bytes | str) -> list[str]:
        """The raw tokens of a line, split at ASCII whitespace: other spaces stay inside tokens.

        With ``tokenize`` it is split at any whitespace, and around punctuation and UNSPACED characters; only the
        whitespace is lost.

        Raises UnicodeDecodeError on bytes that are not UTF-8.
        """
        if self.tokenize:
            return self._tokenize(line.decode() if isinstance(line, bytes) else line)
        content = line if isinstance(line, bytes) else line.encode()
        return [token.decode() for token in content.split()]

    def word(self, token: str) -> str:
        """The word of a raw token: NFC, case folded, stemmed (unless the stem would be empty)."""
        if token.isascii():  # nothing to compose, and most words are
            word = token.lower() if self.casefold else token
        else:
            # Folding the decomposed token makes canonically equal tokens equal [Unicode D145].
            folded = unicodedata.normalize("NFD", token).casefold() if self.casefold else token
            word = unicodedata.normalize("NFC", folded)
        return word if self.stem is None else self._stem(word) or word


Normalizers = tuple[Normalizer, Normalizer]
"""Of source and target."""

PLAIN: Normalizers = Normalizer(), Normalizer()
"""Normalizers that split tokens at spaces only."""


def without_tokenizing(normalizers: Normalizers) -> Normalizers:
    """The same normalizers for tokenised text: tokens that links count are never tokenised again."""
    source, target = (replace(side, tokenize=False, keep="", fine=False) for side in normalizers)
    return source, target


def refuse_links(links: Sequence[object], normalizers: Normalizers) -> None:
    """Raise SettingError where other aligners' links, which count tokens by spaces, are given for tokenised text."""
    if links and any(normalizer.tokenize for normalizer in normalizers):
        raise SettingError("other aligners' links count tokens split by spaces (leave `links` out, or do not tokenise)")
