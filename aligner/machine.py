"""A word alignment model for machine.py (the package sil-machine), in place of those of its Thot."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from machine.corpora import AlignedWordPair, ParallelTextCorpus
from machine.tokenization import WHITESPACE_TOKENIZER, Tokenizer
from machine.translation import Trainer, TrainStats, WordAlignmentMatrix
from machine.translation.ibm1_word_alignment_model import Ibm1WordAlignmentModel
from machine.translation.word_vocabulary import WordVocabulary
from machine.utils.progress_status import ProgressStatus
from scipy.sparse import csr_array

from aligner.errors import AlignerError
from aligner.model.default import default_model
from aligner.model.model import Model, load
from aligner.model.operating_point import fitting_offset
from aligner.progress import Progress, tell_passes
from corpora.bitext import Bitext, BitextBuilder
from corpora.files import StrPath
from corpora.link_counts import NULL
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.skipping import MAX_LENGTH
from corpora.threads import shared_property
from features.statistics import CorpusStatistics

Word = str | int | None
"""A word, its place in the vocabulary, or None for what words without a link translate."""

Cancel = Callable[[], None] | None


class AlignerWordAlignmentModel(Ibm1WordAlignmentModel):  # type: ignore[misc]  # sil-machine has no types
    """A model of ours, symmetric already, with the default weights if it is trained here.

    path: of its file, which is opened if it exists, and where `Trainer.save` writes.  A model of ``aligner train`` will
    do.  Scores of translations are shares of a source word's expected links; those of alignments are probabilities that
    a link is right.  Before it is trained there is no model: AlignerError.
    """

    def __init__(self, path: StrPath | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._model = load(self.path) if self.path is not None and self.path.is_file() else None

    @property
    def model(self) -> Model:
        """The trained model, for all else that it can do.  Raises AlignerError before there is one."""
        if self._model is None:
            raise AlignerError(f"{self.path or 'the word alignment model'} is not trained (use create_trainer)")
        return self._model

    @shared_property
    def source_words(self) -> WordVocabulary:
        return NormalizedWords(self.model.statistics.source_words.words(), self.model.normalizers[0])

    @shared_property
    def target_words(self) -> WordVocabulary:
        return NormalizedWords(self.model.statistics.target_words.words(), self.model.normalizers[1])

    @property
    def special_symbol_indices(self) -> Collection[int]:
        return {0}  # of NULL

    def create_trainer(self, corpus: ParallelTextCorpus) -> "AlignerTrainer":
        return AlignerTrainer(corpus, self.path, self)

    def use(self, model: Model) -> None:
        """Let another model align from now on."""
        self._model = model
        for computed in ("source_words", "target_words", "_translations"):
            self.__dict__.pop(computed, None)

    def align(self, source_segment: Sequence[str], target_segment: Sequence[str]) -> WordAlignmentMatrix:
        return self.align_batch([(source_segment, target_segment)])[0]

    def align_batch(self, segments: Sequence[Sequence[Sequence[str]]]) -> Sequence[WordAlignmentMatrix]:
        pairs = [(source, target) for source, target in segments]
        return [
            WordAlignmentMatrix.from_word_pairs(len(source), len(target), found.links)
            for (source, target), found in zip(pairs, self.model.align_many(pairs), strict=True)
        ]

    def get_translations(self, source_word: Word, threshold: float = 0) -> Iterable[tuple[int, float]]:
        shares, row = self._translations, self._place(source_word, self.source_words)
        own = slice(*shares.indptr[row : row + 2]) if row >= 0 else slice(0)
        found = zip(shares.indices[own].tolist(), shares.data[own].tolist(), strict=True)
        return [(word, share) for word, share in found if word != 0 and share > threshold]

    def get_translation_score(self, source_word: Word, target_word: Word) -> float:
        row, column = self._place(source_word, self.source_words), self._place(target_word, self.target_words)
        return float(self._translations[row, column]) if row >= 0 and column > 0 else 0.0

    get_translation_probability = get_translation_score

    def compute_aligned_word_pair_scores(
        self, source_segment: Sequence[str], target_segment: Sequence[str], word_pairs: Collection[AlignedWordPair]
    ) -> None:
        super().compute_aligned_word_pair_scores(source_segment, target_segment, word_pairs)
        links = [(pair.source_index, pair.target_index) for pair in word_pairs]
        bitext = self.model.builder().add_pairs([(source_segment, target_segment)]).bitext()
        found = self.model.score_bitext(bitext, Links.from_sets([{link for link in links if min(link) >= 0}]))[0]
        probabilities = dict(zip(found.links, found.scores, strict=True))
        for pair in word_pairs:
            pair.alignment_score = probabilities.get((pair.source_index, pair.target_index), 0.0)

    def _place(self, word: Word, words: WordVocabulary) -> int:
        return word if isinstance(word, int) else int(words.index(word))

    @shared_property
    def _translations(self) -> Any:
        """(source words, target words) of shares, NULL first."""
        counts, shape = self.model.link_counts(), (len(self.source_words), len(self.target_words))
        rows, columns = ((side + 1) % size for side, size in zip((counts.source, counts.target), shape, strict=True))
        totals = np.bincount(rows, counts.counts, shape[0])
        return csr_array((counts.counts / totals[rows], (rows, columns)), shape)


class NormalizedWords(WordVocabulary):  # type: ignore[misc]
    """The words of a language, as the model normalises them; NULL is the first."""

    def __init__(self, words: Sequence[str], normalizer: Normalizer) -> None:
        self._words, self._normalizer = [NULL, *words], normalizer
        self._places = {word: place for place, word in enumerate(words, 1)}

    def index(self, word: str | None) -> int:
        """The place of a word, 0 for None, -1 for a word that is not here."""
        return 0 if word is None else self._places.get(self._normalizer.word(word), -1)

    def __getitem__(self, place: Any) -> Any:
        return self._words[place]

    def __len__(self) -> int:
        return len(self._words)


class AlignerTrainer(Trainer):  # type: ignore[misc]
    """Trains a model on a corpus of machine.py, whose empty and very long rows are left out.

    path: where `save` writes, over what is there; None for nowhere.  model: gets what was trained, at `save`.
    *_tokenizer: of text that is not in tokens yet.
    """

    def __init__(
        self,
        corpus: ParallelTextCorpus,
        path: StrPath | None = None,
        model: AlignerWordAlignmentModel | None = None,
        source_tokenizer: Tokenizer = WHITESPACE_TOKENIZER,
        target_tokenizer: Tokenizer = WHITESPACE_TOKENIZER,
    ) -> None:
        self._corpus = corpus.tokenize(source_tokenizer, target_tokenizer)
        self._path, self._owner, self._stats = path, model, TrainStats()
        self._trained: Model | None = None

    @property
    def stats(self) -> TrainStats:
        return self._stats

    def train(self, progress: Callable[[ProgressStatus], None] | None = None, check_canceled: Cancel = None) -> None:
        """Train; both functions are called after each pass.  Raises AlignerError if there are no rows."""

        def tell(news: Progress) -> None:
            if check_canceled is not None:
                check_canceled()
            if progress is not None:
                progress(ProgressStatus(round(news.done), message=news.detail))

        bitext = self._read(check_canceled)
        self._stats.train_corpus_size = len(bitext)
        statistics = CorpusStatistics.from_bitext(bitext, on_pass=tell_passes(tell))
        model = default_model(statistics, record={"pairs": len(bitext)})
        self._trained = model.with_offset(fitting_offset(model, bitext), of_text=True)

    def save(self) -> None:
        if self._trained is None:
            raise AlignerError("nothing is trained yet (call train first)")
        if self._path is not None:
            self._trained.save(self._path, force=True)
        if self._owner is not None:
            self._owner.use(self._trained)

    def _read(self, check_canceled: Cancel) -> Bitext:
        builder = BitextBuilder(Normalizer(), Normalizer())
        with self._corpus.get_rows() as rows:
            for number, row in enumerate(rows):
                if check_canceled is not None and number % 1000 == 0:
                    check_canceled()
                if not row.is_empty and max(len(row.source_segment), len(row.target_segment)) <= MAX_LENGTH:
                    builder.add_tokens(row.source_segment, row.target_segment)
        bitext = builder.bitext()
        if len(bitext) == 0:
            raise AlignerError("the corpus has no row with text on both sides (check its references)")
        return bitext
