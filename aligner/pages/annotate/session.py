"""The session of an annotator: the pairs in their order, what a model suggests for them, and its training."""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from aligner.errors import AlignerError, SettingError
from aligner.model.decoding import Alignment
from aligner.model.model import Model
from aligner.model.settings import AlignSettings
from aligner.model.unsupervised import OwnText
from aligner.pages.annotate.agreement import agreement, merged
from aligner.pages.annotate.annotation import Annotation, AnnotationError, SourceText, whole
from aligner.pages.annotate.store import Store
from aligner.progress import Hooks, Progress, ignore
from aligner.training.figures import early_end, held_out_interval
from aligner.training.inputs import read_labelled
from aligner.training.learn import learn
from aligner.training.settings import CountSettings
from corpora.corpus import Corpus
from corpora.errors import CorpusError, counted
from corpora.links import Link
from corpora.readers import open_corpus
from features.translation.dictionary import Fit

ADJUDICATED = "adjudicated"
"""The name of the store of decisions between annotators."""

FEWEST_TO_TRAIN = 10
"""Fewest accepted pairs to train on; with fewer, none would be held out."""

_MOST_SEARCHED, _MOST_WORDS, _MOST_CONTEXTS = 2000, 200, 20

LISTED: dict[str, Callable[[Annotation], object]] = {
    "all": lambda work: True, "flagged": lambda work: work.flagged, "with a comment": lambda work: work.comment,
    "open": lambda work: work.status == "open", "accepted": lambda work: work.status == "accepted",
    "skipped": lambda work: work.status == "skipped",
}  # fmt: skip

_NAME = r"[\w-]{1,40}"

_Given = Mapping[str, Any]


def model_of_text(
    corpus: Corpus,
    settings: AlignSettings,
    on_progress: Callable[[Progress], None] = ignore,
    on_dictionary: Callable[[Fit], None] = ignore,
) -> Model:
    """Make the model that `aligner.align` aligns a text with: its own statistics and the default weights."""
    text = OwnText.of(corpus, settings, on_progress=on_progress, on_dictionary=on_dictionary)
    return text.model(text.estimate(on_progress))


class _Suggester(NamedTuple):
    """A model and its alignments of pairs, replaced together, so that no links are of another model."""

    model: Model
    found: dict[int, Alignment]


class Session:
    """The session of one annotator: answers the requests of the page; its public methods return JSON values.

    prefix: of the files of all annotators.  annotator: a name, or None for the first one.  number: the most pairs.
    Pairs with an empty side are left out, and of equal pairs all but the first. Pairs that others have accepted come
    first. Raises AlignerError on files that do not fit.
    """

    def __init__(
        self,
        text: SourceText,
        model: Model,
        prefix: str,
        *,
        annotator: str | None = None,
        order: str = "random",
        seed: int = 0,
        number: int | None = None,
        learns: bool = True,
    ) -> None:
        if annotator == ADJUDICATED or (annotator and not re.fullmatch(_NAME, annotator)):
            raise SettingError(f"no annotator can be called {annotator!r} (give letters, digits, - and _)")
        self.text, self.annotator, self.prefix = text, annotator, prefix
        self._learns, self._suggester = learns, _Suggester(model, {})
        self._decisions: Store | None = None
        self._training: dict[str, Any] = {"state": "none"}
        self.trained: Model | None = None
        self.ended = False
        others = {pair for works in self._others().values() for pair in works}
        self.queue = sorted(self._ordered(order, seed)[:number], key=lambda pair: pair not in others)
        if not self.queue:
            raise CorpusError(text.name, 0, "there are no pairs to annotate", hint="check the file name")
        self.store = self._store(annotator, writes=True)

    def close(self) -> None:
        for store in filter(None, (self.store, self._decisions)):
            store.close()

    def pair(self, given: _Given) -> dict[str, Any]:
        """Return all about a pair.  given: its number, and, to decide between annotators, the other's name."""
        pair, store = self._number(given), self._store_of(given)
        source, target = self.text.words(pair)
        if store is self.store:
            found, queue, sides = self._suggest(pair), self.queue, []
            start = Annotation(suggested=frozenset(found.links))
        else:
            found, queue = Alignment((), ()), [*agreement(*self._both(given), self.text).different]
            sides = [works[pair] for works in self._both(given) if pair in works]
            start = merged(*sides) if len(sides) == 2 else Annotation()
        place = queue.index(pair) if pair in queue else 0
        around = [*queue[place + 1 :], *queue[:place]]
        with store.lock:
            works = [store.works[p] for p in queue if p in store.works]
            counts = Counter(work.status for work in works)
            return {
                "pair": pair,
                "source": source,
                "target": target,
                "work": store.works.get(pair, start).to_json(),
                "revision": store.revisions.get(pair, 0),
                "scores": [[*link, min(score, 1.0)] for link, score in zip(found.links, found.scores, strict=True)],
                "sides": [side.to_json() for side in sides],
                "next": next(iter(around), None),
                "previous": around[-1] if around else None,
                "following": next(filter(store.is_open, around), None),
                "flagged": sum(work.flagged for work in works),
                "progress": {
                    "pairs": len(queue),
                    "accepted": counts["accepted"],
                    "skipped": counts["skipped"],
                    "pace": store.pace(),
                },
            }

    def save(self, given: _Given) -> dict[str, Any]:
        """Save the annotation of a pair, unless the pair has been changed since it was shown."""
        pair, store = self._number(given), self._store_of(given, writes=True)
        work = Annotation.from_json(given["work"], self.text.lengths(pair))
        store.change({pair: (whole(given["revision"]), work)})
        return self.pair(given)

    def undo(self, given: _Given) -> dict[str, Any]:
        return {"pairs": self._store_of(given, writes=True).undo()}

    def listed(self, given: _Given) -> dict[str, Any]:
        """Return how many pairs there are, and the first.  given: which, of LISTED, and a text that is in them."""
        wanted, text, found = LISTED[given["which"]], given["text"].lower(), []
        with self.store.lock:
            works = dict(self.store.works)
        for pair in self.queue:
            work = works.get(pair, Annotation())
            if wanted(work) and text in "\n".join(self.text.sentences[pair]).lower():
                found.append((pair, work))
        rows = [
            {
                "pair": pair,
                "words": self.text.sentences[pair],
                "status": work.status,
                "flagged": work.flagged,
                "comment": work.comment,
            }
            for pair, work in found[:_MOST_WORDS]
        ]
        return {"number": len(found), "pairs": rows}

    def words(self, given: _Given) -> dict[str, Any]:
        """Return the word pairs suggested most often in open pairs.  given: a word pair whose places are wanted."""
        places: dict[tuple[str, str], list[tuple[int, Link]]] = {}
        for pair in self._first_open():
            for words, links in self._suggested(pair).items():
                places.setdefault(words, []).extend((pair, link) for link in sorted(links))
        frequent = Counter({words: len(found) for words, found in places.items()}).most_common(_MOST_WORDS)
        chosen = places.get((given.get("source", ""), given.get("target", "")), [])
        shown = [{"pair": p, "words": self.text.words(p), "link": link} for p, link in chosen[:_MOST_CONTEXTS]]
        return {"words": [[*words, times] for words, times in frequent], "contexts": shown, "links": len(chosen)}

    def approve(self, given: _Given) -> dict[str, Any]:
        """Decide on all suggested links of a word pair at once, in the pairs that `words` searches."""
        kind, wanted, changes = given["kind"], (given["source"], given["target"]), {}
        if kind not in ("sure", "possible", "none"):
            raise AnnotationError(f"there is no such kind of link: {kind!r}")
        pairs = self._first_open()
        with self.store.lock:
            for pair in filter(self.store.is_open, pairs):
                if links := self._suggested(pair).get(wanted):
                    work = self._work(pair)
                    kept = {} if kind == "none" else {kind: getattr(work, kind) | links}
                    work = replace(work, suggested=work.suggested - links, **kept)
                    changes[pair] = self.store.revisions.get(pair, 0), work
            if changes:
                self.store.change(changes)
        return {"pairs": len(changes)}

    def agreements(self, given: _Given) -> dict[str, Any]:
        """Return the agreement with each other annotator, and the pairs to decide on."""
        found, decided = [], self._store(ADJUDICATED).works
        for name, works in self._others().items():
            result = agreement(self.store.accepted(), works, self.text)
            pairs = [{"pair": p, "words": self.text.sentences[p], "decided": p in decided} for p in result.different]
            left = sum(pair not in decided for pair in result.same)
            found.append({**vars(result), "name": name, "different": pairs, "same": len(result.same), "left": left})
        return {"others": found}

    def take_over(self, given: _Given) -> dict[str, Any]:
        """Save as decided the pairs on which both annotators agree."""
        store, works = self._store_of(given, writes=True), self._both(given)
        same = [pair for pair in agreement(*works, self.text).same if pair not in store.works]
        if same:
            store.change({pair: (store.revisions.get(pair, 0), works[0][pair]) for pair in same})
        return {"pairs": len(same)}

    def train(self, given: _Given) -> dict[str, Any]:
        """Begin to train on the accepted pairs."""
        labelled = len(self.store.accepted())
        if labelled < FEWEST_TO_TRAIN:
            raise AnnotationError(
                f"{counted(labelled, 'pair')} accepted: too few to learn from (accept {FEWEST_TO_TRAIN})"
            )
        with self.store.lock:  # else two clicks were two trainings
            if self._training["state"] != "running":
                self._training = {"state": "running", "pairs": labelled, "detail": "starting"}
                Thread(target=self._train, daemon=True).start()
            return self._training

    def training(self, given: _Given) -> dict[str, Any]:
        """Return the progress of the training, or its result."""
        return {**self._training, "accepted": len(self.store.accepted()), "fewest": FEWEST_TO_TRAIN}

    def _train(self) -> None:
        pairs = self._training["pairs"]

        def tell(news: Progress) -> None:
            self._training = {"state": "running", "pairs": pairs, "detail": f"{news.stage} {news.detail}".strip()}

        hooks = Hooks(on_progress=tell, interrupted=lambda: self.ended)
        try:
            with tempfile.TemporaryDirectory() as folder:  # what is accepted meanwhile changes nothing there
                for name, content in zip(self.store.outputs, self.store.gold(), strict=True):
                    Path(folder, f"gold{Path(name).suffix}").write_bytes(content)
                model, languages = self._suggester.model, self.text.languages
                gold = open_corpus(f"{folder}/gold", source=languages[0], target=languages[1])
                labelled = read_labelled([gold], model.normalizers)
            text = CountSettings(languages, model.normalizers)
            made = learn(model.statistics, labelled, text=text, hooks=hooks).model
            aer, by_default = made.record["learnt_aer"], made.record["default_aer"]  # None: no pairs were held out
        except (AlignerError, OSError, MemoryError, KeyboardInterrupt) as error:
            self._training = {"state": "failed", "error": str(error)}
            return
        except Exception:
            self._training = {"state": "failed", "error": "an error of the program: see where it was started"}
            raise
        self.trained = made
        if self._learns:
            self._suggester = _Suggester(made, {})
        self._training = {
            "state": "done", "pairs": pairs, "aer": aer, "default": by_default,
            "interval": held_out_interval(made.record), "early": " ".join(early_end(made.record)),
            "keeps_default": "default_weights" in made.record, "suggests": self._learns,
        }  # fmt: skip

    def _ordered(self, order: str, seed: int) -> list[int]:
        first = {sentences: pair for pair, sentences in reversed([*enumerate(self.text.sentences)])}
        pairs = sorted(pair for sentences, pair in first.items() if all(sentences))
        if order == "random":
            return [pairs[n] for n in np.random.default_rng(seed).permutation(len(pairs))]
        if order == "unsure":
            suggestions = self._align(pairs)
            return sorted(pairs, key=lambda pair: (suggestions[pair].score, pair))
        return pairs

    def _align(self, pairs: Iterable[int]) -> Mapping[int, Alignment]:
        """Align pairs that have no suggestions yet, on all cores; return all suggestions."""
        suggester = self._suggester  # a training may put another in its place meanwhile
        missing = [pair for pair in pairs if pair not in suggester.found]
        suggester.found.update(zip(missing, suggester.model.align_many(map(self.text.words, missing)), strict=True))
        return suggester.found

    def _first_open(self) -> list[int]:
        pairs = [*islice(filter(self.store.is_open, self.queue), _MOST_SEARCHED)]
        self._align(pair for pair in pairs if pair not in self.store.works)
        return pairs

    def _suggest(self, pair: int) -> Alignment:
        suggester = self._suggester
        found = suggester.found.get(pair)
        if found is None:
            found = suggester.found[pair] = suggester.model.align(*self.text.words(pair))
        return found

    def _work(self, pair: int) -> Annotation:
        known = self.store.works.get(pair)
        return Annotation(suggested=frozenset(self._suggest(pair).links)) if known is None else known

    def _suggested(self, pair: int) -> dict[tuple[str, str], set[Link]]:
        """The suggested links of a pair by their words, in lower case."""
        source, target = ([word.lower() for word in side] for side in self.text.words(pair))
        found: dict[tuple[str, str], set[Link]] = {}
        for j, k in self._work(pair).suggested:
            found.setdefault((source[j], target[k]), set()).add((j, k))
        return found

    def _others(self) -> dict[str, dict[int, Annotation]]:
        """The accepted pairs of all other annotators, by their names."""
        base, found = Path(self.prefix), {}
        for file in sorted(base.parent.glob("*.journal")):
            name = re.fullmatch(rf"{re.escape(base.name)}(?:\.({_NAME}))?\.journal", file.name)
            if name and name[1] not in (self.annotator, ADJUDICATED):
                found[name[1] or base.name] = self._store(name[1]).accepted()
        return found

    def _store(self, annotator: str | None, *, writes: bool = False) -> Store:
        return Store(f"{self.prefix}.{annotator}" if annotator else self.prefix, self.text, writes=writes)

    def _both(self, given: _Given) -> tuple[dict[int, Annotation], dict[int, Annotation]]:
        other = self._others().get(given["with"])
        if other is None:
            raise AnnotationError(f"there is no annotator {given['with']}")
        return self.store.accepted(), other

    def _number(self, given: _Given) -> int:
        if not 0 <= (pair := whole(given["pair"])) < len(self.text.sentences):
            raise AnnotationError(f"there is no pair {pair + 1}")
        return pair

    def _store_of(self, given: _Given, *, writes: bool = False) -> Store:
        """The store of the annotator, or of decisions if the request has `with`, opened for writing only if wanted."""
        if not given.get("with"):
            return self.store
        self._both(given)
        with self.store.lock:
            if self._decisions is None and writes:
                self._decisions = self._store(ADJUDICATED, writes=True)
            return self._decisions or self._store(ADJUDICATED)
