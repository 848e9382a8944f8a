"""The Python interface of eflomal, with our translation models behind it: ``import aligner.eflomal as eflomal``."""

import re
import shutil
import warnings
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from aligner.errors import SettingError
from aligner.model.aligning import Part, align
from aligner.model.decoding import Alignments
from aligner.model.settings import AlignSettings
from aligner.model.unsupervised import ByPosteriors, estimate
from aligner.progress import progress_bar
from corpora.bitext import Bitext, BitextBuilder, Text
from corpora.files import StrPath, spill_file, write_atomically
from corpora.formats.pharaoh import parse_links
from corpora.links import check_range
from corpora.normalize import SPACE, Normalizer
from corpora.ragged import F64
from corpora.symmetrize import DIRECTIONS
from features.translation.priors import NULL, Priors, format_priors, parse_priors

__all__ = ["Aligner", "calculate_priors", "write_priors"]

_SURE = re.compile(r"(?<!\S)([0-9]+)-([0-9]+)")


class Aligner:
    """An aligner of both directions.

    rel_iterations: passes of the HMM, rounded, at least one.  null_prior: prior probability that a word translates
    nothing.  *_prefix_len, *_suffix_len: how many first or last letters stand for a word; 0 for all.
    model, score_model, n_iterations, n_samplers: of eflomal's sampler; a warning if they are not its defaults.
    Raises SettingError.
    """

    def __init__(
        self,
        model: int = 3,
        score_model: int = 0,
        n_iterations: Sequence[int] | None = None,
        n_samplers: int = 3,
        rel_iterations: float = 1.0,
        null_prior: float = 0.2,
        source_prefix_len: int = 0,
        source_suffix_len: int = 0,
        target_prefix_len: int = 0,
        target_suffix_len: int = 0,
    ) -> None:
        if (model, score_model, n_iterations, n_samplers) != (3, 0, None, 3):
            what = "model, score_model, n_iterations and n_samplers have no effect"
            warnings.warn(f"{what}: an HMM is trained, `rel_iterations` times over the text", stacklevel=2)
        self._settings = AlignSettings(null=null_prior, iterations=max(round(rel_iterations), 1))
        self._parts = _part(source_prefix_len, source_suffix_len), _part(target_prefix_len, target_suffix_len)

    def align(
        self,
        src_input: Iterable[str],
        trg_input: Iterable[str],
        links_filename_fwd: StrPath | None = None,
        links_filename_rev: StrPath | None = None,
        scores_filename_fwd: StrPath | None = None,
        scores_filename_rev: StrPath | None = None,
        priors_input: Iterable[str] | None = None,
        quiet: bool = True,
        use_gdb: bool = False,
    ) -> None:
        """Align lines of tokens and write ``i-j`` links, source-target, and scores, one a line, the lower the better.

        links_filename_fwd: has at most one link for each target word, and links_filename_rev for each source word.
        scores_filename_fwd: log probability per target word by frequency in this text, minus that given the source
        sentence; scores_filename_rev: of source words given the target.  Below 0 the other side makes the words
        likelier; 0 with an empty side.  Existing files are overwritten in place: the caller may hold them open.
        Tokens that stand for a space, ▁, are left out, and have no link.
        priors_input: lines of eflomal's priors, or of a table of fast_align.  quiet: print no progress.
        Raises ValueError for unequal numbers of lines, TypeError for names in place of files, SettingError for use_gdb,
        CorpusError for wrong priors and files that cannot be made, OSError for files that cannot be written.
        """
        if use_gdb:
            raise SettingError("there is no program for gdb (leave use_gdb out)")
        normalizers = Normalizer(), Normalizer()
        priors = None
        if priors_input is not None:
            name = str(getattr(priors_input, "name", "priors_input"))
            counts = parse_priors((line.rstrip("\n").encode() for line in priors_input), name)
            priors = _cut(counts, self._parts).to_model(normalizers)
        if str in (type(src_input), type(trg_input)):
            raise TypeError("a text is a file that is open, or lines, not a name (use open)")
        builder, places = BitextBuilder(*normalizers), (array("i"), array("i"))
        for texts in _in_step(src_input, trg_input):
            sides: list[list[str]] = []
            for line, short, kept in zip(texts, self._parts, places, strict=True):
                tokens = line.split()
                words = [place for place, token in enumerate(tokens) if token != SPACE]
                kept.extend(words)
                sides.append([short(tokens[place]) for place in words])
            builder.add_tokens(*sides)
        bitext = builder.bitext()
        with progress_bar(quiet) as show:
            model = estimate(bitext, self._settings, priors=priors, on_progress=show) if len(bitext) else None
        found = [() if model is None else align([Part(bitext)], ByPosteriors(model, one)) for one in DIRECTIONS]
        outputs = (links_filename_fwd, scores_filename_fwd), (links_filename_rev, scores_filename_rev)
        for side, (parts, paths) in enumerate(zip(found, outputs, strict=True)):
            if paths == (None, None):
                continue
            with _over(paths[0]) as links, _over(paths[1]) as scores:
                done, by_frequency = 0, _log_frequencies((bitext.target, bitext.source)[side])
                for _, part in parts:
                    links.write(_in_place(part, bitext, done, places).lines())
                    fit = part.fit[:, side]
                    gains = np.where(np.isfinite(fit), by_frequency[done : done + len(part)] - fit, 0.0)
                    scores.writelines(b"%g\n" % gain for gain in gains.tolist())
                    done += len(part)


def _in_step(*files: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The lines of all files, one of each at a time.  Raises ValueError if one has fewer than another."""
    for number, lines in enumerate(zip_longest(*files), 1):
        if None in lines:
            which = f"file {lines.index(None) + 1} of {len(lines)}"
            raise ValueError(f"{which} ends before line {number} (line n of all must be one pair)")
        yield lines


def _in_place(found: Alignments, bitext: Bitext, first: int, places: Sequence[Sequence[int]]) -> Alignments:
    """The alignments from pair `first` on, in the positions that tokens had in their lines."""
    links, pairs = found.links, first + found.links.pairs
    texts = bitext.source.offsets[pairs] + links.source, bitext.target.offsets[pairs] + links.target
    source, target = (np.asarray(side)[words] for side, words in zip(places, texts, strict=True))
    return replace(found, links=replace(links, source=source, target=target))


@contextmanager
def _over(path: StrPath | None) -> Iterator[IO[bytes]]:
    """A new file, whose content is at the end copied into the existing file, or appears at once under its name."""
    with spill_file("output") as whole:
        yield whole
        if path is not None:
            whole.seek(0)
            with Path(path).open("wb") if Path(path).is_file() else write_atomically(path, force=True) as output:
                shutil.copyfileobj(whole, output)


def _log_frequencies(text: Text) -> F64:
    """The mean log frequency (n,) in the text of each sentence's words; 0 for an empty sentence."""
    logs = np.log(np.bincount(text.ids) / len(text.ids))[text.ids]
    sums: F64 = np.diff(np.concatenate([[0.0], np.cumsum(logs)])[text.offsets])
    return sums / np.maximum(text.lengths, 1)


def _part(prefix: int, suffix: int) -> Callable[[str], str]:
    return lambda word: word[:prefix] if prefix else word[-suffix:] if suffix else word


def _cut(priors: Priors, parts: Sequence[Callable[[str], str]]) -> Priors:
    """Priors of the parts of words that stand for words in the text."""
    links: defaultdict[tuple[str, str], float] = defaultdict(float)
    for words, count in priors.links.items():
        source, target = (word if word == NULL else short(word) for word, short in zip(words, parts, strict=True))
        links[source, target] += count
    return priors._replace(links=links)


def calculate_priors(
    src_sentences: Iterable[str],
    trg_sentences: Iterable[str],
    fwd_alignments: Iterable[str],
    rev_alignments: Iterable[str],
) -> tuple[Counter[Any], Counter[Any], Counter[Any], Counter[Any], Counter[Any]]:
    """Count links, jumps forward and in reverse, and words of both languages by how many links they have.

    A link that is there twice counts twice. Jumps are between the links of neighbouring words that have any, from the
    last link of the one to the first link of the other, in the order of the line.
    Raises ValueError for unequal numbers of lines, CorpusError for a link that is none of the two sentences.
    """
    links, jumps, fertilities = Counter[Any](), (Counter[Any](), Counter[Any]()), (Counter[Any](), Counter[Any]())
    for number, (source, target, *both) in enumerate(
        _in_step(src_sentences, trg_sentences, fwd_alignments, rev_alignments), 1
    ):
        words = source.split(), target.split()
        for side, line in enumerate(both):  # of the words that the others come of
            found = parse_links(line, "alignments", number)
            check_range(found, len(words[0]), len(words[1]), "alignments", number)
            given = [(int(i), int(j)) for i, j in _SURE.findall(line)]
            ordered = sorted(given, key=itemgetter(1 - side))
            steps = pairwise([(-1, -1), *ordered, (len(words[0]), len(words[1]))])  # not between links of one word
            jumps[side].update(to[side] - at[side] for at, to in steps if at[1 - side] != to[1 - side])
            numbers = Counter(link[side] for link in ordered)
            fertilities[side].update((words[side][place], n) for place, n in numbers.items())
            if side == 0:
                links.update((words[0][i], words[1][j]) for i, j in given)
    return links, *jumps, *fertilities


def write_priors(
    priorsf: TextIO,
    priors_list: Mapping[Any, float],
    hmmf_priors: Mapping[int, float],
    hmmr_priors: Mapping[int, float],
    ferf_priors: Mapping[Any, float],
    ferr_priors: Mapping[Any, float],
) -> None:
    """Write the counts of `calculate_priors`."""
    priorsf.writelines(format_priors(Priors(priors_list, ferf_priors, ferr_priors, hmmf_priors, hmmr_priors)))
