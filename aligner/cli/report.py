"""``aligner report``."""

from typing import Annotated, Literal

from aligner.cli.messages import refuse_idle, say
from aligner.cli.options import (
    FORCE,
    LINK_TOKENS,
    QUIET,
    SHOWN_GOLD,
    Bootstrap,
    argument,
    command,
    named_files,
    output_option,
)
from aligner.model.settings import AlignSettings
from aligner.progress import progress_bar
from corpora.errors import counted
from corpora.reading import Reading
from corpora.settings import changed


@command(hidden="source target", tokenize=LINK_TOKENS)
def report(
    source: str = argument("SRC", "Source text."),
    target: str = argument("TGT|LINKS", "Target text; or links, if SRC is a whole corpus."),
    links: list[str] | None = argument("LINKS", "Links of up to four systems; NAME=FILE names them.", None),
    *,
    reading: Reading,
    gold: str | None = SHOWN_GOLD,
    tokens: Annotated[AlignSettings, "tokenize keep"],
    model: str | None = output_option(None, "Also tell how it was learnt.", "m", metavar="MODEL"),
    intervals: Bootstrap,
    format_: Literal["html", "markdown", "latex", "csv"] = output_option(
        "html", "A page, or the figures alone, for papers."
    ),
    output: str | None = output_option(
        None,
        "Write here; - is standard output.",
        "o",
        metavar="FILE",
        shown="report.html, figures to standard output",
    ),
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Write a page to look at links with: one file for any browser, which needs no network.

    With gold, its figures are those of ``aligner evaluate``; as markdown, latex or csv the figures alone are written.
    """
    from corpora.link_files import holds_links

    texts: tuple[str, str | None] = source, target
    systems = links or []
    if holds_links(named_files([target])[1][0]):
        texts, systems = (source, None), [target, *systems]
    names, files = named_files(systems)
    path = output or ("report.html" if format_ == "html" else "-")
    with progress_bar(quiet):
        from aligner.errors import SettingError
        from aligner.evaluation.tables import format_evaluations
        from aligner.model.model import load
        from aligner.pages.report import read_pairs, write_page
        from corpora.files import refuse_inputs, write_atomically

        if format_ != "html" and gold is None:
            raise SettingError(f"--format {format_} writes figures, which need gold links (give --gold)")
        if gold is None:
            refuse_idle("without gold links (give --gold)", **dict.fromkeys(changed(intervals), True))
        refuse_idle("on figures alone (leave out --format)", model=model and format_ != "html")
        refuse_inputs(path, [*texts, *files, gold, model])
        with write_atomically(path, force=force) as file:
            record = load(model).record if model else None
            pairs = read_pairs(
                *texts, files, names=names, gold=gold, tokenize=tokens.tokenize, keep=tokens.keep, reading=reading
            )
            evaluations = pairs.evaluate(**intervals.given())
            if format_ == "html":
                of_model = (model, record) if model and record is not None else None
                text = write_page(pairs, evaluations, model=of_model)
            else:
                text = format_evaluations(evaluations, format_) + "\n"
            file.write(text.encode(errors="replace"))
    if not quiet and path != "-":
        say(f"{counted(len(pairs.words[0]), 'pair')} written to {path}")
