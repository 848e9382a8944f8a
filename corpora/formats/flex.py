"""FLEx: phrases with words, in one or several writing systems, and free translations."""

from collections import Counter
from collections.abc import Sequence

from corpora.formats.markup import Unit, one_line

TRANSLATION = ".gls"
"""The end of names of translations: their language alone may be that of words, too."""

Texts = dict[str, list[str]]  # parts by language


class FlexReader:
    """What is known at a place in a flextext file: words of phrases by language, free translations as ``en.gls``.

    Words of a phrase are in its vernacular language, with foreign words and punctuation where they stand, and in each
    other writing system that words have beside it. The text of a phrase counts where it has no words.
    wanted: names, of which words are read; of others it is only said that they are there.
    """

    def __init__(self, wanted: Sequence[str] = ()) -> None:
        self._wanted = wanted
        self.done = list[Unit]()
        self._elements: list[str] = []
        self._phrases: list[tuple[list[Texts], Texts, Texts]] = []  # words, whole text, translations
        self._vernacular: set[str] = set()  # which the end of a text says
        self._text: list[str] | None = None  # that is being read

    def start(self, name: str, values: dict[str, str]) -> None:
        within = self._elements[-1] if self._elements else ""
        language = values.get("lang", "?")
        if name == "phrase":
            self._phrases.append(([], {}, {}))
        elif name == "word" and self._phrases:
            self._phrases[-1][0].append({})
        elif name == "language" and values.get("vernacular") == "true":
            self._vernacular.add(language)
        elif name == "item" and self._phrases:
            words, whole, translations = self._phrases[-1]
            texts = None
            match within, values.get("type"):
                case "word", "txt" | "punct" if words:
                    texts = words[-1]
                case "phrase", "txt":
                    texts = whole
                case "phrase", "gls":
                    texts = translations
            if texts is not None:
                self._text = texts.setdefault(language, [])
                self._text.append(" ")
        self._elements.append(name)

    def read(self, text: str) -> None:
        if self._text is not None and (self._elements[-1] != "item" or text.strip(" \t\r\n")):  # as between runs
            self._text.append(text)

    def end(self, name: str) -> None:
        self._elements.pop()
        if name == "item":
            self._text = None
        if name in ("interlinear-text", "document"):
            self._end_text()

    def _end_text(self) -> None:
        every = [[word for word in words if word] or [whole] for words, whole, _ in self._phrases]
        counts = Counter(language for words in every for word in words for language in word)
        known = [language for language, _ in counts.most_common()]
        vernacular = [language for language in known if language in self._vernacular] or known[:1]
        for words, (_, whole, translations) in zip(every, self._phrases, strict=True):
            used = Counter(language for word in words for language in word)
            beside = [language for word in words if len(word) > 1 for language in word]
            beside += [language for language in whole if language not in used]
            unit = dict[str, bytes]()
            for language in dict.fromkeys([max(vernacular, key=used.__getitem__), *beside]) if used else ():
                texts = [word.get(language, next(iter(word.values()))) for word in words]
                texts = [whole[language]] if language in whole and language not in used else texts
                unit[language] = one_line(" ".join(map("".join, texts))) if language in self._wanted else b""
            unit |= {f"{language}{TRANSLATION}": one_line("".join(parts)) for language, parts in translations.items()}
            self.done.append(unit)
        self._phrases, self._vernacular = [], set()
