"""``aligner features``."""

from aligner.cli import options as opt
from aligner.cli.answers import refuse_idle
from aligner.cli.texts import with_others
from aligner.progress import Progress, progress_bar
from corpora.errors import CorpusError


def features(
    model: opt.ModelArgument,
    gold: opt.GoldPrefixes = None,
    source: opt.SourceLanguage = None,
    target: opt.TargetLanguage = None,
    links: opt.LinksFiles = None,
    memory: opt.Memory = 2 << 30,
    threads: opt.Threads = None,
    format_: opt.ReportFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Print the features of a model, the most effective first: weights, ranges, and what AER is without each.

    The last needs labelled pairs (--gold).
    """
    with progress_bar(quiet) as show:
        from aligner.model.model import load
        from aligner.report.text import format_features_json, format_features_text
        from aligner.training.ablation import describe_model
        from aligner.training.inputs import read_labelled
        from corpora.readers import open_corpus

        loaded = load(model)
        if not hasattr(loaded, "weights"):
            what = "scores by a kernel, which has no weights of features"
            raise CorpusError(model, 0, what, hint="give a model of another solver")
        labelled, idle = None, {"source": source, "target": target, "links": links, "memory": memory != 2 << 30}
        refuse_idle("without labelled pairs (give --gold)", **({} if gold else idle))
        if gold:
            loaded, others = with_others(loaded, model, links or [])
            source, target = source or loaded.languages[0], target or loaded.languages[1]
            corpora = [open_corpus(prefix, source=source, target=target) for prefix in gold]
            labelled = read_labelled(corpora, loaded.normalizers, others)
        report = describe_model(
            loaded, labelled, memory=memory,
            on_progress=lambda done, total: show(Progress("ablation", done, total, "alignments of the pairs")),
        )  # fmt: skip
    print(format_features_json(report) if format_ == "json" else format_features_text(report))
