"""``aligner report``."""

from typing import Annotated

import typer

from aligner.cli import options as opt
from aligner.cli.messages import refuse_idle, say
from aligner.progress import progress_bar
from corpora.errors import counted
from corpora.reading import AS_IT_IS, Reading


@opt.reads_corpus(hidden="source target")
def report(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Source text.")],
    target: Annotated[
        str, typer.Argument(metavar="TGT|LINKS", help="Target text; or links, if SRC is a whole corpus.")
    ],
    links: Annotated[
        list[str] | None, typer.Argument(metavar="LINKS", help="Links of up to four systems; NAME=FILE names them.")
    ] = None,
    reading: Reading = AS_IT_IS,
    gold: opt.ShownGold = None,
    tokenize: opt.LinkTokens = False,
    keep: opt.Keep = None,
    model: opt.ReportedModel = None,
    confidence: opt.Confidence = 95.0,
    resamples: opt.Resamples = 1000,
    seed: opt.BootstrapSeed = 12345,
    format_: opt.PageFormat = "html",
    output: opt.ReportFile = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Write a page to look at links with: one file for any browser, which needs no network.

    With gold, its figures are those of ``aligner evaluate``; as markdown, latex or csv the figures alone are written.
    """
    from corpora.link_files import holds_links

    texts: tuple[str, str | None] = source, target
    systems = links or []
    if holds_links(opt.named_files([target])[1][0]):
        texts, systems = (source, None), [target, *systems]
    names, files = opt.named_files(systems)
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
            boot = {"confidence": confidence != 95, "resamples": resamples != 1000, "seed": seed != 12345}
            refuse_idle("without gold links (give --gold)", **boot)
        refuse_idle("on figures alone (leave out --format)", model=model and format_ != "html")
        refuse_inputs(path, [*texts, *files, gold, model])
        with write_atomically(path, force=force) as file:
            record = load(model).record if model else None
            pairs = read_pairs(*texts, files, names=names, gold=gold, tokenize=tokenize, keep=keep, reading=reading)
            evaluations = pairs.evaluate(confidence=confidence / 100, resamples=resamples, seed=seed)
            if format_ == "html":
                of_model = (model, record) if model and record is not None else None
                text = write_page(pairs, evaluations, model=of_model)
            else:
                text = format_evaluations(evaluations, format_) + "\n"
            file.write(text.encode(errors="replace"))
    if not quiet and path != "-":
        say(f"{counted(len(pairs.words[0]), 'pair')} written to {path}")
