"""Co-occurrence counts of a bitext and the Dice coefficient of word pairs.

Counts are over *sentence pairs*: C_e and C_f are the numbers of pairs whose source (target) contains the word,
C_ef the number of pairs that contain both, however often. Dice(e, f) = 2 C_ef / (C_e + C_f)  [TLK05 §3].
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from corpora.bitext import Bitext, Text
from corpora.compiled import compiled
from corpora.ragged import F32, I32, I64
from corpora.threads import map_threads
from features import word_pairs
from features.word_pairs import U, find_cells, runs, sort_row

MINIMUM_DICE = 0.002
"""Cells with a smaller Dice are left out.

A kept cell has C_ef >= MINIMUM_DICE / 2 · C_e, and the C_ef of a row add up to at most the words of the C_e target
sentences: a row keeps at most 2 / MINIMUM_DICE · (mean length of the target sentences of e) cells however long the
corpus.
"""

KEPT_DICE = 0.005
"""Cells with a smaller Dice are not kept once lexicons are learnt: features do without them."""

_SENTENCES_AT_ONCE = 1 << 25
"""Sentences that are listed at once for the words that they contain, 4 bytes each."""

_CELLS_PER_CHUNK = 1 << 20
"""Cells that a worker has space for, 8 bytes each; fewer only where a source word has more."""


@dataclass(frozen=True, eq=False)
class CooccurrenceTable:
    """Counts of words and word pairs, compressed by source word.

    source_counts: (V_source,), target_counts: (V_target,) int32, sentence pairs that contain the word.
    row_offsets: (V_source + 1,) int64; cells of source word e are row_offsets[e] .. row_offsets[e + 1].
    targets: (cells,) int32, ascending within a row;  counts: (cells,) int32, C_ef.
    pairs: number of sentence pairs counted.
    """

    source_counts: I32
    target_counts: I32
    row_offsets: I64
    targets: I32
    counts: I32
    pairs: int

    def dice(self, source: I32, target: I32, known: tuple[I32, I32]) -> F32:
        """Dice(e, f) = 2 C_ef / (C_e + C_f)  [TLK05 §3] of word pairs (m,); 0 for a word or cell without counts.

        source, target: (m,) words of any text.  known: for each side, the table's word for each of that text, or -1.
        """
        cells = find_cells(source, target, *known, self.row_offsets, self.targets)
        found = np.flatnonzero(cells >= 0)
        counts = self.source_counts.take(known[0].take(source.take(found)))
        counts += self.target_counts.take(known[1].take(target.take(found)))
        dice = np.zeros(len(cells), np.float32)
        dice[found] = 2.0 * self.counts.take(cells.take(found)) / counts
        return dice

    def above(self, dice: float) -> "CooccurrenceTable":
        """The table without cells of a smaller Dice."""
        kept, rows = np.empty(len(self.targets), bool), np.zeros(len(self.row_offsets), np.int64)
        for first, last in runs(self.row_offsets, _CELLS_PER_CHUNK):
            bounds = self.row_offsets[first : last + 1]
            cells = slice(bounds[0], bounds[-1])
            words = np.repeat(self.source_counts[first:last], np.diff(bounds))
            words += self.target_counts.take(self.targets[cells])
            kept[cells] = self.counts[cells] >= np.multiply(words, dice / 2.0, dtype=np.float32)
            before = np.append(0, np.cumsum(kept[cells]))
            rows[first + 1 : last + 1] = rows[first] + before[bounds[1:] - bounds[0]]
        return replace(self, row_offsets=rows, targets=self.targets[kept], counts=self.counts[kept])


def count_cooccurrences(
    bitext: Bitext,
    *,
    minimum_dice: float = MINIMUM_DICE,
    on_progress: Callable[[float], None] | None = None,
    vocabularies: tuple[int, int] | None = None,
) -> CooccurrenceTable:
    """Count the co-occurrences of a bitext.  on_progress: called with the fraction done.

    vocabularies: their sizes, where the text has words of larger ones than its own.

    For each source word, its sentences are walked and their target words added up in one array of V_target counters
    per thread; the row is then pruned and written out. Peak memory beyond the result and the bitext: 4 bytes for
    each source token, at most 135 MB, about 16 MB for each core, and, of a text of pieces, those of the target.
    """
    n_source, n_target = vocabularies or (len(bitext.source.vocabulary), len(bitext.target.vocabulary))
    target = bitext.target.cut(0, len(bitext))
    target_counts, source_counts = np.zeros(n_target, np.int32), np.zeros(n_source, np.int32)
    bounds = np.zeros(n_source, np.int64)  # words of the sentences beside those with the word
    _count_sentences(0, *target, target[1], target_counts, np.zeros(n_target, np.int64))
    for first, *source in _parts(bitext.source):
        _count_sentences(first, *source, target[1], source_counts, bounds)
    occurrences = np.append(0, np.cumsum(source_counts, dtype=np.int64))
    cells = np.append(0, np.cumsum(np.minimum(bounds, n_target)))  # at most so many, before pruning

    def chunks() -> Iterator[tuple[int, int, int, I64, I32]]:
        for low, high in runs(occurrences, _SENTENCES_AT_ONCE):
            starts = occurrences[low : high + 1] - occurrences[low]
            free, latest = starts[:-1].copy(), np.full(high - low, -1, np.int32)
            sentences = np.empty(starts[-1], np.int32)
            for first, *source in _parts(bitext.source):
                _list_sentences(first, *source, low, latest, free, sentences)
            for first, last in runs(cells[low : high + 1], _CELLS_PER_CHUNK):
                yield low + first, low + last, low, starts, sentences

    def count(chunk: tuple[int, int, int, I64, I32]) -> tuple[int, I32, I32, I64]:
        first, last, *listed = chunk
        capacity = int(cells[last] - cells[first])
        cell_targets, cell_counts = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
        sizes = np.empty(last - first, np.int64)
        row = source_counts, target_counts, minimum_dice, cell_targets, cell_counts, sizes
        used = _count_rows(first, last, *listed, *target, *row)
        return last, cell_targets[:used].copy(), cell_counts[:used].copy(), sizes

    parts = []
    for part in map_threads(count, chunks()):
        parts.append(part[1:])
        if on_progress is not None:
            on_progress(float(cells[part[0]] / max(cells[-1], 1)))
    row_offsets = np.cumsum(np.concatenate([[0], *(sizes for _, _, sizes in parts)]))
    targets, counts = np.empty(row_offsets[-1], np.int32), np.empty(row_offsets[-1], np.int32)
    end = len(targets)
    while parts:  # each part is let go as soon as it is copied
        part_targets, part_counts, _ = parts.pop()
        start = end - len(part_targets)
        targets[start:end], counts[start:end], end = part_targets, part_counts, start
    return CooccurrenceTable(source_counts, target_counts, row_offsets, targets, counts, len(bitext))


def _parts(text: Text) -> Iterator[tuple[int, I32, I64]]:
    """Yield the text in parts: the number of the first sentence, the words, and where each sentence begins and ends."""
    for first, last in runs(text.offsets, word_pairs.WORDS_AT_ONCE):
        yield first, *text.cut(first, last)


def add_cooccurrences(table: CooccurrenceTable, more: CooccurrenceTable) -> CooccurrenceTable:
    """Add the counts of two corpora, where the words of `more` begin with the words of `table`.

    Cells that a table left out for their small Dice count as 0 there.
    """
    from scipy import sparse  # slow to import, and only updates of models need it

    shape = len(more.source_counts), len(more.target_counts)
    counts = []
    for known, new in ((table.source_counts, more.source_counts), (table.target_counts, more.target_counts)):
        counts.append(new.copy())
        counts[-1][: len(known)] += known

    def matrix(part: CooccurrenceTable) -> sparse.csr_array:
        row = np.repeat(np.arange(len(part.source_counts)), np.diff(part.row_offsets))
        return sparse.coo_array((part.counts, (row, part.targets)), shape).tocsr()

    both = matrix(table) + matrix(more)
    both.sort_indices()
    return CooccurrenceTable(
        counts[0],
        counts[1],
        both.indptr.astype(np.int64),
        both.indices.astype(np.int32),
        both.data.astype(np.int32),
        table.pairs + more.pairs,
    )


@compiled
def _count_sentences(first, ids, offsets, other_offsets, sentences, tokens):
    """Count for each word, (V,), sentences that contain it, and the tokens of those beside them.

    first: number of the first sentence.  other_offsets: of all sentences beside.
    """
    latest = np.empty(len(sentences), np.int32)
    latest[:] = -1
    for s in range(len(offsets) - 1):
        length = other_offsets[first + s + 1] - other_offsets[first + s]
        for t in range(U(offsets[s]), U(offsets[s + 1])):
            word = U(ids[t])
            if latest[word] != s:
                latest[word] = s
                sentences[word] += 1
                tokens[word] += length


@compiled
def _list_sentences(first, ids, offsets, low, latest, free, sentences):
    """Write the sentences that contain word low + w to sentences[free[w]] and after it, in order, for all w.

    first: number of the first sentence.  latest: the last one written of each word, or -1.
    """
    for s in range(len(offsets) - 1):
        for t in range(U(offsets[s]), U(offsets[s + 1])):
            word = U(ids[t] - low)  # far too large below the first
            if word < U(len(latest)) and latest[word] != first + s:
                latest[word] = first + s
                sentences[free[word]] = first + s
                free[word] += 1


@compiled
def _count_rows(
    first,
    last,
    low,
    starts,
    sentences,
    tokens,
    offsets,
    source_counts,
    target_counts,
    minimum_dice,
    cell_targets,
    cell_counts,
    sizes,
):
    """Write the kept cells of rows first .. last; returns how many.  low, ..., sentences: see `_list_sentences`."""
    counter = np.empty(len(target_counts), np.int32)
    counter[:] = 0
    latest = np.empty(len(target_counts), np.int32)  # the last place in `sentences` whose sentence has the word
    latest[:] = -1
    touched = np.empty(len(target_counts) + 1, np.int32)  # a word is written before it is new
    used = 0
    for e in range(first, last):
        n_touched = U(0)
        for t in range(starts[e - low], starts[e - low + 1]):
            s = sentences[t]
            for position in range(U(offsets[s]), U(offsets[s + 1])):
                f = U(tokens[position])
                if latest[f] != t:
                    latest[f] = t
                    touched[n_touched] = f  # without a branch, whose outcome could not be predicted
                    n_touched += U(counter[f] == 0)
                    counter[f] += 1
        kept = 0
        for x in range(n_touched):
            f = U(touched[x])
            if 2.0 * counter[f] >= minimum_dice * (source_counts[e] + target_counts[f]):
                touched[kept] = f
                kept += 1
            else:
                counter[f] = 0
        if 8 * kept < len(counter):
            sort_row(touched[:kept])
        else:  # a frequent word: in order they are found sooner than sorted
            kept = 0
            for word in range(len(counter)):
                if counter[word] > 0:
                    touched[kept] = word
                    kept += 1
        for x in range(kept):
            f = U(touched[x])
            cell_targets[used + x] = f
            cell_counts[used + x] = counter[f]
            counter[f] = 0
        used += kept
        sizes[e - first] = kept
    return used
