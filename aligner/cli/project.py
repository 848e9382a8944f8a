"""``aligner project``."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from aligner.cli.messages import in_options, refuse_idle, say, tell_fit
from aligner.cli.options import (
    FORCE,
    OUTPUT,
    QUIET,
    argument,
    command,
    data_option,
    output_option,
    skipping_pairs,
)
from aligner.model.settings import AlignSettings
from aligner.progress import ignore, progress_bar, tell_items
from corpora import SettingError
from corpora.errors import CorpusError, counted

if TYPE_CHECKING:
    from aligner.evaluation.labels import LabelCounts
    from aligner.evaluation.markup import SpanFigures, TagCount
    from corpora.formats.spans import Labelled
    from corpora.inline.carrying import Placed
    from corpora.inline.documents import Document, Segment
    from corpora.inline.kinds import Marked

_SAME_TEXT = "without its tags it is the same: do the files belong together?"


@command(threads=True, hidden="columns source target")
def project(
    source: str = argument("SRC", "Source text: a file with labels, or lines with --markup."),
    target: str | None = argument("TGT|LINKS", "The target text.", None),
    links: str | None = argument("LINKS", "Links of these pairs, in any format; needed with labels.", None),
    *,
    markup: str | None = data_option(
        None, "Carry inline markup of this kind: html, xliff, xliff2, tmx or placeholders.", metavar="KIND"
    ),
    gold: str | None = data_option(
        None, "The target text with labels or markup: report how much is right, unless -o is given.", metavar="FILE"
    ),
    settings: Annotated[AlignSettings, "model dictionary source target columns untranslated skip_bad"],
    unsure: str | None = output_option(
        None,
        "List tags that may stand elsewhere, to .tsv, .csv, .xlsx or .html (to correct them).",
        metavar="FILE",
    ),
    examples: str | None = data_option(
        None, "A memory with tags on both sides, TMX or XLIFF: it shows what words of tags become.", metavar="FILE"
    ),
    corrected: str | None = data_option(
        None, "Tags that stand as this table says, which the page of --unsure saves.", metavar="FILE"
    ),
    output: str = OUTPUT,
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Carry labels of words, or inline markup, across links.

    Names and other spans (BIO, Label Studio, brat, spaCy), parts of speech, or trees; tags, codes and placeholders.
    Without LINKS text with markup is aligned by a model (-m), or by what it says itself.
    """
    document = _document(source, target, markup, examples, settings)
    if document is None:
        if target is None or links is None:
            raise SettingError("labels are carried from SRC to TGT by LINKS (give all three, or `markup`)")
        refuse_idle(
            "on labels, which have LINKS (give --markup KIND for tags)",
            model=settings.model,
            dictionary=settings.dictionary,
            skip_bad=settings.skip_bad,
            unsure=unsure,
            examples=examples,
            corrected=corrected,
        )
        _project_labels((source, target, links), gold, settings, (output, force, quiet))
        return
    if len({*document.files}) == 1:
        links = links or target
    _project_markup(document, links, gold, unsure, examples, corrected, settings, (output, force, quiet))


def _document(
    source: str, target: str | None, markup: str | None, examples: str | None, settings: AlignSettings
) -> "Document | None":
    """What is to get inline markup; None for labels.  examples: a memory, of which settings may choose languages."""
    from corpora.formats.units import kind_of_units
    from corpora.inline.documents import Lines
    from corpora.inline.kinds import check_kind
    from corpora.inline.pages import Pages, is_page
    from corpora.inline.units import Units
    from corpora.paths import is_stream

    if markup is not None:
        check_kind(markup)
        if target is None:
            raise SettingError("`markup` is of lines (give TGT, too)")
        if examples is None:
            settings.reading.refuse("is not of lines with markup", "leave it out")
        told = (lambda error: say(in_options(f"left without tags: {error}"))) if settings.skip_bad else None
        return Lines((source, target), markup, on_broken=told)
    if is_stream(source):
        return None
    kind = kind_of_units(source)
    pages = Pages((source, target)) if target is not None and is_page(source) else None
    is_units = kind in ("TMX", "XLIFF")
    if is_units or pages:
        refuse_idle("on documents", skip_bad=settings.skip_bad, untranslated=settings.untranslated)
    if (kind == "XLIFF" or pages) and examples is None:
        settings.reading.refuse("is of TMX", "leave it out")
    return Units(source, settings.reading) if is_units else pages


def _project_labels(
    files: tuple[str, str, str], gold: str | None, settings: AlignSettings, how: tuple[str, bool, bool]
) -> None:
    output, force, quiet = how
    with progress_bar(quiet) as show:
        from corpora.files import refuse_inputs, write_packed
        from corpora.labelled import write_labelled
        from corpora.projection import project_labels

        refuse_inputs(output, [*files, gold])
        with write_packed(output, force=force) as file:
            found: Iterable[Labelled] = tell_items(show, "writing", project_labels(*files, settings.reading))
            if gold is not None:
                found = kept = list(found)
                report = _report(_judged(kept, gold))
            if gold is None or output != "-":
                write_labelled(file, found, output, files[0])
    if gold is not None:
        print(report, flush=True)


@dataclass
class _Tally:
    """Counts the tags of segments, and those that are as in gold, if there is one.

    rows_of: makes what is to be listed, of the number of a segment, the segment and its tags.
    """

    gold: "Iterator[Marked] | None"
    rows_of: "Callable[..., Iterable[Any]]"
    pairs: int = 0
    tags: int = 0
    unsure: int = 0
    empty: int = 0
    rows: list[Any] = field(default_factory=list)
    spans: "list[list[TagCount]]" = field(default_factory=list)

    def add(self, segment: "Segment", placed: "list[Placed]", gold: str) -> None:
        """Count the tags of a segment.  Raises CorpusError for gold of another text."""
        from aligner.evaluation.markup import count_tags

        self.pairs += 1
        self.tags += len(placed)
        self.unsure += sum(not one.sure for one in placed)
        self.empty += bool(placed) and not segment.target.tokens
        self.rows += self.rows_of(self.pairs, segment, placed)
        if self.gold is not None:
            truth = next(self.gold, None)
            if truth is None or truth.text != segment.target.text:
                raise CorpusError(gold, segment.line, "has not the text of the target", hint=_SAME_TEXT)
            self.spans.append(count_tags(placed, segment.target, truth))

    def __str__(self) -> str:
        empty = f", {counted(self.empty, 'empty target')} with all tags in order" if self.empty else ""
        return f"{counted(self.tags, 'tag')}, {self.unsure:,} unsure{empty}"


def _project_markup(
    document: "Document",
    links: str | None,
    gold: str | None,
    unsure: str | None,
    examples: str | None,
    corrected: str | None,
    settings: AlignSettings,
    how: tuple[str, bool, bool],
) -> None:
    output, force, quiet = how
    if links is not None:
        refuse_idle("on links (leave LINKS out)", model=settings.model, dictionary=settings.dictionary)
    with progress_bar(quiet) as show, skipping_pairs(settings) as skipping:
        from aligner.evaluation.markup import figures
        from aligner.model.inline import align_document, carried, read_links
        from corpora.files import refuse_inputs, spilling_beside, write_atomically, write_packed
        from corpora.inline.corrections import NO_CORRECTIONS, read_corrections
        from corpora.inline.documents import corpus_of
        from corpora.inline.units import read_examples

        for one in filter(None, (output, unsure)):
            refuse_inputs(
                one, [*document.files, links, gold, examples, corrected, settings.model, *settings.dictionary]
            )
        corpus_of(document).refuse_pipes()
        rows_of, write_unsure = _unsure_to(unsure, document)
        corrections = NO_CORRECTIONS if corrected is None else read_corrections(corrected)
        known = read_examples(examples, settings.reading)
        tally = _Tally(None if gold is None else document.gold(gold), rows_of)
        with spilling_beside(output), write_packed(output, force=force) as file:
            if links is None:
                found = align_document(document, settings, skipping, on_progress=show, on_dictionary=tell_fit(quiet))
            else:
                found = read_links(document, links)
            for piece, placed in tell_items(show, "writing", carried(document, found, corrections, known)):
                if piece.segment is not None:
                    tally.add(piece.segment, placed, gold or "")
                if gold is None or output != "-":
                    file.write(piece.written(placed))
            if gold is not None and next(tally.gold or iter(()), None) is not None:
                raise CorpusError(gold, 0, "has more segments than the target", hint=_SAME_TEXT)
        if unsure is not None:
            with write_atomically(unsure, force=force) as file:
                write_unsure(file, tally.rows)
    if gold is not None:
        print(_spans_report(figures(tally.spans)), flush=True)
    if not quiet:
        where = "standard output" if output == "-" else output
        say(f"{tally}" if gold is not None and output == "-" else f"{tally}, written to {where}")


def _unsure_to(path: str | None, document: "Document") -> "tuple[Callable[..., Iterable[Any]], Callable[..., object]]":
    """What is listed of each segment for a file of unsure tags, and what writes the file, as the end of its name says.

    Raises SettingError for XLSX without its package.
    """
    if path is None:
        return (lambda *_: ()), ignore
    if path.lower().endswith(".html"):
        from aligner.pages.tags import shown, write_page

        name = Path(document.files[1]).name
        return shown, lambda file, rows: file.write(write_page(rows, document.languages, name).encode())
    from corpora.formats.sheets import kind_of_rows, write_rows
    from corpora.inline.corrections import UNSURE, unsure_rows

    kind = kind_of_rows(path)
    return unsure_rows, lambda file, rows: write_rows(file, kind, UNSURE, rows)


def _spans_report(found: "Mapping[str, SpanFigures]") -> str:
    lines = [f"{'tag':15} {'tags':>7} {'exact':>24} {'word F1':>24} {'sure':>8} {'of these':>9}"]
    for name, of in found.items():
        rates = (
            f"{100 * rate:8.2f} [{100 * low:6.2f}, {100 * high:6.2f}]"
            for rate, (low, high) in zip((of.exact, of.f1), of.intervals, strict=True)
        )
        lines.append(f"{name:15} {of.tags:7} {' '.join(rates)} {100 * of.sure:8.2f} {100 * of.sure_exact:9.2f}")
    return "\n".join(lines)


def _judged(found: "Sequence[Labelled]", gold: str) -> "Mapping[str, LabelCounts]":
    from aligner.evaluation.labels import count_labels, count_spans
    from corpora.labelled import read_labelled

    both, spans = [], all(one.marks is not None for one in found)
    for one, truth in zip_longest(found, read_labelled(gold)):
        in_words = one is not None and truth is not None and truth.sentence is not None and one.tokens == truth.tokens
        if one is None or truth is None or not (in_words or (spans and one.text.rstrip() == truth.text.rstrip())):
            what = (
                "has not the sentences of the target text" if truth is None else "has not the words of the target text"
            )
            raise CorpusError(gold, truth.line if truth else 0, what, hint="do the files belong together?")
        both.append((one, truth, in_words))
    if spans:
        return count_spans((one.places(in_words), truth.places(in_words)) for one, truth, in_words in both)
    return count_labels(((one.rows.labels, truth.rows.labels) for one, truth, _ in both), spans=False)


def _report(counts: "Mapping[str, LabelCounts]") -> str:
    lines = [f"{'label':15} {'found':>7} {'gold':>7} {'right':>7} {'precision':>10} {'recall':>8} {'F1':>8}"]
    for name, of in counts.items():
        figures = f"{100 * of.precision:10.2f} {100 * of.recall:8.2f} {100 * of.f1:8.2f}"
        lines.append(f"{name:15} {of.found:7} {of.gold:7} {of.right:7} {figures}")
    return "\n".join(lines)
