"""The Python interface of eflomal, with our translation models behind it: ``import aligner.eflomal as eflomal``."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TextIO

from aligner.errors import SettingError
from aligner.model.unsupervised import Unsupervised
from corpora.alignment import check_range
from corpora.bitext import BitextBuilder
from corpora.files import StrPath, write_atomically
from corpora.formats.pharaoh import parse_links
from corpora.normalize import Normalizer
from features.translation.priors import Priors, format_priors, parse_priors


class Aligner:
    """An aligner of both directions.

    rel_iterations: passes of the HMM, rounded, at least one.  null_prior: prior probability that a word translates
    nothing.  The lengths: of the part of a word that is looked at, its first and last letters; 0 is all of it.
    model, score_model, n_iterations, n_samplers: of eflomal's sampler; warned of where they are not its defaults.
    Raises SettingError.
    """

    def __init__(
        self, model: int = 3, score_model: int = 0, n_iterations: Sequence[int] | None = None, n_samplers: int = 3,
        rel_iterations: float = 1.0, null_prior: float = 0.2, source_prefix_len: int = 0, source_suffix_len: int = 0,
        target_prefix_len: int = 0, target_suffix_len: int = 0,
    ) -> None:  # fmt: skip
        if (model, score_model, n_iterations, n_samplers) != (3, 0, None, 3):
            what = "model, score_model, n_iterations and n_samplers have no effect"
            warnings.warn(f"{what}: an HMM is trained, `rel_iterations` times over the text", stacklevel=2)
        self._settings: dict[str, Any] = {"null": null_prior, "iterations": max(round(rel_iterations), 1)}
        self._parts = _part(source_prefix_len, source_suffix_len), _part(target_prefix_len, target_suffix_len)
        Unsupervised(**self._settings)  # complains now

    def align(
        self, src_input: Iterable[str], trg_input: Iterable[str], links_filename_fwd: StrPath | None = None,
        links_filename_rev: StrPath | None = None, scores_filename_fwd: StrPath | None = None,
        scores_filename_rev: StrPath | None = None, priors_input: Iterable[str] | None = None, quiet: bool = True,
        use_gdb: bool = False,
    ) -> None:  # fmt: skip
        """Align lines of tokens and write ``i-j`` links, source-target, over files that are there.

        links_filename_fwd: has at most one link for each target word, and links_filename_rev for each source word.
        priors_input: lines of eflomal's priors, or of a table of fast_align.  quiet: nothing is ever printed.
        Raises ValueError unless there are as many lines of both languages, SettingError for scores and use_gdb, and
        CorpusError for priors that are none.
        """
        if use_gdb or scores_filename_fwd is not None or scores_filename_rev is not None:
            raise SettingError(
                "there are no scores and no program for gdb (leave these out; alignments have scores, as `fit`)"
            )
        normalizers = Normalizer(), Normalizer()
        priors = None
        if priors_input is not None:
            name = str(getattr(priors_input, "name", "priors_input"))
            priors = parse_priors((line.rstrip("\n").encode() for line in priors_input), name).to_model(normalizers)
        builder = BitextBuilder(*normalizers)
        for texts in zip(src_input, trg_input, strict=True):
            source, target = (map(part, line.split()) for part, line in zip(self._parts, texts, strict=True))
            builder.add_tokens(source, target)
        bitext = builder.bitext()
        settings = Unsupervised("forward", priors=priors, **self._settings)
        _, *found = settings.align_directions(bitext) if len(bitext) else ((), (), ())
        for path, parts in zip((links_filename_fwd, links_filename_rev), found, strict=True):
            if path is not None:
                with write_atomically(path, force=True) as file:
                    file.writelines(part.lines() for part in parts)


def _part(prefix: int, suffix: int) -> Callable[[str], str]:
    return lambda word: word[:prefix] if prefix else word[-suffix:] if suffix else word


def calculate_priors(
    src_sentences: Iterable[str], trg_sentences: Iterable[str], fwd_alignments: Iterable[str],
    rev_alignments: Iterable[str],
) -> tuple[Counter[Any], Counter[Any], Counter[Any], Counter[Any], Counter[Any]]:  # fmt: skip
    """Counts of links, of jumps forward and in reverse, and of words of both languages by how many links they have.

    ValueError unless there are as many lines of all, CorpusError for what is no link of the two sentences.
    """
    links, jumps, fertilities = Counter[Any](), (Counter[Any](), Counter[Any]()), (Counter[Any](), Counter[Any]())
    for number, (source, target, *both) in enumerate(
        zip(src_sentences, trg_sentences, fwd_alignments, rev_alignments, strict=True), 1
    ):
        words = source.split(), target.split()
        for side, line in enumerate(both):  # of the words that the others come of
            found = parse_links(line, "alignments", number)
            check_range(found, len(words[0]), len(words[1]), "alignments", number)
            places = [link[side] for link in sorted(found.sure, key=lambda link: (link[1 - side], link[side]))]
            jumps[side].update(after - before for before, after in pairwise([-1, *places, len(words[side])]))
            fertilities[side].update((words[side][place], n) for place, n in Counter(places).items())
            if side == 0:
                links.update((words[0][i], words[1][j]) for i, j in found.sure)
    return links, *jumps, *fertilities


def write_priors(
    priorsf: TextIO, priors_list: Mapping[Any, float], hmmf_priors: Mapping[int, float],
    hmmr_priors: Mapping[int, float], ferf_priors: Mapping[Any, float], ferr_priors: Mapping[Any, float],
) -> None:  # fmt: skip
    """Write what `calculate_priors` gives."""
    priorsf.writelines(format_priors(Priors(priors_list, ferf_priors, ferr_priors, hmmf_priors, hmmr_priors)))
