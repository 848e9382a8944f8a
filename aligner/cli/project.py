"""``aligner project``."""

from itertools import zip_longest
from typing import TYPE_CHECKING

from aligner.cli.options import FORCE, OUTPUT, QUIET, argument, command, data_option
from aligner.progress import progress_bar, tell_items
from corpora.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aligner.evaluation.labels import LabelCounts
    from corpora.formats.conll import Sentence


@command()
def project(
    labels: str = argument("LABELS", "The source text with labels: a CoNLL file."),
    target: str = argument("TGT", "The target text, or a whole corpus with it."),
    links: str = argument("LINKS", "Links of these pairs, in any format."),
    *,
    gold: str | None = data_option(
        None, "The target text with labels: report F1 in place of the labels, unless -o is given.", metavar="FILE"
    ),
    reading: Reading,
    output: str = OUTPUT,
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Carry labels of words across links to the other language.

    Names and other spans (BIO), parts of speech, or the trees of CoNLL-U.
    """
    with progress_bar(quiet) as show:
        from corpora.encodings import marked
        from corpora.files import refuse_inputs, write_packed
        from corpora.projection import project_file

        refuse_inputs(output, [labels, target, links, gold])
        with write_packed(output, force=force) as file:
            found: Iterable[Sentence] = tell_items(show, "writing", project_file(labels, target, links, reading))
            if gold is not None:
                found = kept = list(found)
                report = _report(_judged(kept, gold))
            if gold is None or output != "-":
                file.write(marked("".join(map(str, found)).encode()))
    if gold is not None:
        print(report, flush=True)


def _judged(found: "Sequence[Sentence]", gold: str) -> "Mapping[str, LabelCounts]":
    from aligner.evaluation.labels import count_labels
    from corpora.errors import CorpusError
    from corpora.formats.conll import read_sentences

    both = []
    for one, truth in zip_longest(found, read_sentences(gold)):
        if one is None or truth is None or one.words != truth.words:
            what = (
                "has not the sentences of the target text" if truth is None else "has not the words of the target text"
            )
            raise CorpusError(gold, truth.line if truth else 0, what, hint="do the files belong together?")
        both.append((one.labels, truth.labels))
    return count_labels(both, spans=all(one.has_spans for one in found))


def _report(counts: "Mapping[str, LabelCounts]") -> str:
    lines = [f"{'label':15} {'found':>7} {'gold':>7} {'right':>7} {'precision':>10} {'recall':>8} {'F1':>8}"]
    for name, of in counts.items():
        figures = f"{100 * of.precision:10.2f} {100 * of.recall:8.2f} {100 * of.f1:8.2f}"
        lines.append(f"{name:15} {of.found:7} {of.gold:7} {of.right:7} {figures}")
    return "\n".join(lines)
