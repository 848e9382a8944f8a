"""The options of all commands, in the groups of their help; names they may take, and parsers of their values."""

import csv
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from aligner.cli.help import show_all
from aligner.cli.messages import in_options, say
from aligner.cli.outputs import Format
from aligner.model.settings import Decoding, Symmetrization
from aligner.settings import parse_size
from corpora import SettingError
from corpora.reading import Reading

if TYPE_CHECKING:
    from corpora.skipping import Skipping

Report = Literal["text", "json"]
EvaluationReport = Literal["text", "json", "markdown", "latex", "csv"]
Page = Literal["html", "markdown", "latex", "csv"]
Annotations = Literal["random", "unsure", "given"]
Scores = Literal["tsv", "worst", "jsonl", "scored", "pharaoh"]
Lexicons = Literal["tsv", "moses", "marian", "bicleaner"]

# The groups of the help; what is hidden there is shown by --help-all.
_data = partial(typer.Option, rich_help_panel="Data")
_links = partial(typer.Option, rich_help_panel="Links")
_unsupervised = partial(typer.Option, rich_help_panel="Without a model")
_evaluating = partial(typer.Option, rich_help_panel="Bootstrap")
_serving = partial(typer.Option, rich_help_panel="Serving")
_output = partial(typer.Option, rich_help_panel="Output")


def _names(literal: object) -> str:
    return ", ".join(get_args(literal))


def read_size(size: str | int) -> int:
    """Parse a size like 500M or 2G, in bytes.  Raises a usage error."""
    try:
        return parse_size(size)
    except SettingError as error:
        raise typer.BadParameter(str(error)) from None


def parse_columns(columns: str) -> tuple[str, str]:
    """Parse numbers or names of the columns of source and target, like 3,4; a name with a comma has quotes.

    Raises a usage error.
    """
    names = next(csv.reader([columns], skipinitialspace=True), [])
    if (
        len(names) != 2
        or not all(names)
        or (any(map(str.isdecimal, names)) and not re.fullmatch("[1-9][0-9]*,[1-9][0-9]*", columns))
    ):
        raise typer.BadParameter(f"{columns!r} is not S,T (give two numbers from 1 on, like 3,4, or two names)")
    return names[0], names[1]


def parse_shard(shard: str) -> tuple[int, int]:
    """Parse the number of a shard and how many there are, like 3/8.  Raises a usage error."""
    parts = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", shard)
    if parts is None or not 1 <= int(parts[1]) <= int(parts[2]):
        raise typer.BadParameter(f"{shard!r} is not I/N with I from 1 to N (give one like 3/8)")
    return int(parts[1]), int(parts[2])


def named_files(given: Sequence[str]) -> tuple[list[str] | None, list[str]]:
    """Names and files of arguments FILE or NAME=FILE; None for names if no argument has one."""
    whole = [Path(one).exists() or one.endswith("=") for one in given]
    parts = [("", "", one) if alone else one.rpartition("=") for one, alone in zip(given, whole, strict=True)]
    files = [file for *_, file in parts]
    return None if files == list(given) else [name or file for name, _, file in parts], files


def texts_and_links(target: str | None, links: str | None) -> tuple[str | None, str | None]:
    """TGT and LINKS of the arguments SRC TGT LINKS, or SRC LINKS, where SRC is a whole corpus."""
    from corpora.link_files import holds_links

    return (None, target) if links is None and target is not None and holds_links(target) else (target, links)


@contextmanager
def skipping_pairs(longest: int | None, skip_bad: bool, long_pairs: str = "empty") -> "Iterator[Skipping]":
    """The rules by which these options skip pairs; at the end a message says how many pairs were skipped."""
    from corpora.skipping import MAX_LENGTH, Skipping

    callback = (lambda error: say(in_options(f"left empty: {error}"))) if skip_bad else None
    skipping = Skipping(MAX_LENGTH if longest is None else longest, long_pairs, callback)
    yield skipping
    if summary := skipping.summary():
        say(in_options(summary))


def _limit_threads(number: int | None) -> int | None:
    from corpora.threads import limit_threads

    limit_threads(number)
    return number


# Data
CorpusPaths = Annotated[list[str], typer.Argument(
    metavar="CORPUS",
    help="PREFIX of PREFIX.en and PREFIX.fr (.gz, .xz, .bz2 too), a folder with one, two text files, a file of "
    "'source ||| target' lines, CSV, XLSX, TMX, XLIFF, flextext, eaf, zip, comtrans or GIZA++ A3.final.",
)]  # fmt: skip
GoldPrefixes = Annotated[list[str] | None, _data(metavar="PREFIX", help="Labelled pairs: texts and links; repeatable.")]
_source = partial(
    _data, "--source", metavar="L", help="Source language: chooses the file or column, else names it, as in TMX."
)
_target = partial(_data, "--target", metavar="L", help="Target language, likewise.")
SourceLanguage = Annotated[str | None, _source()]
TargetLanguage = Annotated[str | None, _target()]
LinksFiles = Annotated[list[str] | None, _data(
    metavar="[KIND=]FILE", help="Another aligner's links, i-j or i-j:p; KIND is neural or statistical; repeatable.",
)]  # fmt: skip
Sample = Annotated[int | None, _data(metavar="N", help="Of more pairs count a random sample.", min=1, hidden=True)]
Update = Annotated[str | None, _data(metavar="MODEL", help="Add the text to this model, whose weights stay.")]
Statistics = Annotated[str | None, _data(
    metavar="MODEL", help="Learn from the labelled pairs by what this model has counted.", hidden=True,
)]  # fmt: skip
PriorsFile = Annotated[str | None, _data(
    "--priors", metavar="FILE", hidden=True,
    help="Priors of eflomal, or a table of fast_align -p: counts to begin with.",
)]  # fmt: skip
Dictionary = Annotated[str | None, _data(
    "--dictionary", metavar="FILE", help="Known translations, a line each: source TAB target [TAB weight].",
)]  # fmt: skip
CaseFold = Annotated[bool, _data(help="Count words whatever their case.", hidden=True)]
Tokenize = Annotated[bool, _data("--tokenize", help="Split off punctuation and Han, Kana, Thai, Lao, Khmer letters.")]
LinkTokens = Annotated[bool, _data("--tokenize", help="The links count tokens of a model of train --tokenize.")]
Keep = Annotated[str | None, _data(
    "--keep", metavar="CHARS", hidden=True, show_default="apostrophes, if they are letters of the text",
    help="With --tokenize: stay inside words where they are between letters; of SRC,TGT too.",
)]  # fmt: skip
Stem = Annotated[bool, _data("--stem", help="Count Snowball stems of the two languages.", hidden=True)]
Threads = Annotated[
    int | None, _data(callback=_limit_threads, metavar="N", help="Threads at work.", min=1, show_default="all cores")
]
Cluster = Annotated[str | None, _data(
    "--cluster", metavar="ADDRESS", hidden=True,
    help="Dask scheduler whose workers count or align; local:N: N processes here.",
)]  # fmt: skip
MaxLength = Annotated[int | None, _data(
    metavar="N", help="Leave a pair empty if a side has more words.", min=1, hidden=True,
    show_default="2409: at most 1 GiB a pair",
)]  # fmt: skip
_columns = partial(
    _data, "--columns", parser=parse_columns, metavar="S,T",
    help="Source and target in one file: of JSON lines and tables names, of lines with tabs numbers from 1 on, of TMX "
    "and XLIFF languages.",
)  # fmt: skip
_untranslated = partial(_data, "--untranslated", help="Take targets that XLIFF calls untranslated.", hidden=True)
Shard = Annotated[Any, _data(
    "--shard", parser=parse_shard, metavar="I/N", help="Align the I-th of N equal parts only (with -m).", hidden=True,
)]  # fmt: skip
SkipBad = Annotated[
    bool, _data("--skip-bad", help="Leave a pair empty if its line is broken, with a message.", hidden=True)
]

# Aligning
Remap = Annotated[str | None, _links(
    "--remap", metavar="CORPUS", hidden=True,
    help="The same text in other tokens, such as subwords: write the links of these.",
)]  # fmt: skip
Offset = Annotated[float, _links(
    metavar="S", help="More links (above 0; 1.5 for high recall) or fewer (below 0); -1 to 1 is usual.",
)]  # fmt: skip

# Annotating
Seed = Annotated[int, _data(metavar="N", help="Seed of the random order.", min=0)]
AnnotatedPairs = Annotated[
    int | None, _data("--pairs", "-n", metavar="N", help="The first pairs of the order.", min=1, show_default="all")
]
AnnotationOrder = Annotated[
    Annotations, _data("--order", help="At random, for a fair sample; the least probable links first; or as given.")
]
AnnotatorName = Annotated[
    str | None, _data("--annotator", metavar="NAME", help="Annotate into PREFIX.NAME, beside others; see agreement.")
]
Port = Annotated[
    int, _output("--port", metavar="N", help="Of the page's address.", min=0, max=65535, show_default="any free one")
]

# Aligning without a model
Unsupervised = Annotated[float | None, _unsupervised(
    "--unsupervised", metavar="[P]", show_default="0.5",
    help="Leave the default weights out; link what has a posterior above P, 0 to 1.",
)]  # fmt: skip
DecodingName = Annotated[Decoding | None, _unsupervised(
    metavar="DECODING", hidden=True, help=f"Leave them out, too; posteriors become links by {_names(Decoding)}.",
)]  # fmt: skip
Directions = Annotated[str | None, _unsupervised(
    metavar="PREFIX", hidden=True,
    help="Also PREFIX.fwd, at most one link a target word, and PREFIX.rev, a source word.",
)]  # fmt: skip

# Evaluating
Confidence = Annotated[float, _evaluating(metavar="%", help="Level of the bootstrap intervals.", min=1.0, max=99.9)]
Resamples = Annotated[int, _evaluating(metavar="N", help="Bootstrap resamples.", min=1, max=1_000_000)]
BootstrapSeed = Annotated[int, _evaluating("--seed", metavar="N", help="Seed of the bootstrap.", min=0)]
AllPairs = Annotated[bool, _evaluating("--all-pairs", help="Test each pair of HYPs, p-values corrected by Holm.")]
GoldBase = Annotated[
    int | None, _data("--base", help="Of the first word in GOLD, as i-j.", min=0, max=1, show_default="0; in .talp 1")
]
LinkedText = Annotated[str | None, _data("--text", metavar="PREFIX", help="The text of the links, if GOLD has none.")]

# Showing
ShownGold = Annotated[str | None, _data("--gold", metavar="GOLD", help="Gold links, to compare with.")]
ShownPairs = Annotated[int, _data("--pairs", "-n", metavar="N", help="Pairs to draw.", min=1, max=10**12)]
FirstShown = Annotated[int, _data("--from", metavar="K", help="Line of the first.", min=1, max=10**12)]

# Serving
Host = Annotated[str, _serving(metavar="HOST", help="Address to listen on; 0.0.0.0 or :: for all of the machine's.")]
AllowedHosts = Annotated[
    list[str] | None, _serving(metavar="NAME", help="Further name that requests may be sent to; repeatable.")
]
ServicePort = Annotated[int, _serving(metavar="N", help="Port to listen on; 0 chooses a free one.", min=0, max=65535)]
MostBytes = Annotated[int, _serving(
    "--max-body", parser=read_size, metavar="SIZE", help="Bytes of a request.", show_default="1M",
)]  # fmt: skip
MostPairs = Annotated[int, _serving("--max-pairs", metavar="N", help="Sentence pairs of a request.", min=1)]
MostWords = Annotated[int, _serving("--max-words", metavar="N", help="Words of a request, on both sides.", min=1)]
LongestSentence = Annotated[int, _serving("--max-length", metavar="N", help="Words of a sentence.", min=1)]
MostRequests = Annotated[int, _serving("--queue", metavar="N", help="Requests at a time; others get a 503.", min=1)]

# Links
ToFormat = Annotated[str | None, _links(
    "--to", metavar="FORMAT", show_default="as OUT is named",
    help="pharaoh, talp, naacl; with words: csv, xlsx, tmx, jsonl, conllu, comtrans, clearaligner, giza (sure only).",
)]  # fmt: skip
FromFormat = Annotated[str | None, _links("--from", metavar="FORMAT", help="Format of IN; else recognised.")]
TextPrefix = Annotated[str | None, _links(metavar="PREFIX", help="The text, for formats with words.")]
Transpose = Annotated[bool, _links("--transpose", help="Swap source and target.")]
Method = Annotated[Symmetrization, _links(
    "--method", "-m", metavar="METHOD", help=f"How to combine the two: {_names(Symmetrization)}.",
)]  # fmt: skip
TransposeReverse = Annotated[bool, _links("--transpose-reverse", help="REV is written target-source.")]

# Lexicons
ToLexicon = Annotated[Lexicons, _output("--to", help="How the files are written and named; see docs/lexicons.md.")]
BestTranslations = Annotated[
    int | None, _output("--best", metavar="K", help="Of each word, the best K only.", min=1, show_default="all")
]
LexiconPrefix = Annotated[str, _output("--output", "-o", metavar="PREFIX", help="To PREFIX.tsv, or two others.")]

# Terms
Glossary = Annotated[str | None, _data(
    "--check", metavar="GLOSSARY",
    help="List where the text does not translate terms as GLOSSARY does: TBX, CSV, XLSX, TMX, or source TAB target.",
)]  # fmt: skip
LeastCount = Annotated[int, _data("--least", metavar="N", help="Occurrences of a term.", min=1)]
LongestTerm = Annotated[int, _data("--longest", metavar="N", help="Words of a term.", min=1, max=20)]
StopWords = Annotated[
    str | None, _data("--stop", metavar="FILE", help="Further words that no term begins or ends with, of both sides.")
]
TermsFile = Annotated[str, _output(
    "--output", "-o", metavar="FILE",
    help="To .tsv, .csv, .xlsx, .tbx (a termbase) or .html (a page); - is standard output.",
)]  # fmt: skip

# Projecting
GoldLabels = Annotated[str | None, _data(
    "--gold", metavar="FILE", help="The target text with labels: report F1 in place of the labels, unless -o is given.",
)]  # fmt: skip

# Output
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A model that aligner train has written.")]
ModelFile = Annotated[str, _output("--model", "-m", metavar="MODEL", help="Model file.")]
TrainedModel = Annotated[
    str | None, _output("--model", "-m", metavar="MODEL", help="Trained model; without it: default weights.")
]
ScoringModel = Annotated[str | None, _output(
    "--model", "-m", metavar="MODEL", help="Trained model; without it the text itself, for LINKS aligner.model.",
)]  # fmt: skip
OutputFile = Annotated[str, _output("--output", "-o", metavar="FILE", help="Write here; - is standard output.")]
GoldPrefix = Annotated[
    str, _output("--output", "-o", metavar="PREFIX", help="To PREFIX.L1, PREFIX.L2, PREFIX.wa, PREFIX.journal.")
]
OutputFormat = Annotated[
    Format,
    _output(
        "--format", help="i-j links, i-j:score, JSON objects with tokens and scores, or scores of pairs and links."
    ),
]
ScoreFormat = Annotated[
    Scores, _output("--format", help="Scores of pairs and links; a table, the worst pairs first; or as align writes.")
]
ShowFeatures = Annotated[bool, _output("--features", help="Also its features, the most effective first.")]
ReportFormat = Annotated[Report, _output("--format", help="A table, or JSON.")]
EvaluationFormat = Annotated[EvaluationReport, _output("--format", help="How tables are written.")]
PageFormat = Annotated[Page, _output("--format", help="A page, or the figures alone, for papers.")]
ReportFile = Annotated[str | None, _output(
    "--output", "-o", metavar="FILE", help="Write here; - is standard output.",
    show_default="report.html, figures to standard output",
)]  # fmt: skip
ReportedModel = Annotated[str | None, _output("--model", "-m", metavar="MODEL", help="Also tell how it was learnt.")]
TraceFile = Annotated[str | None, _output(metavar="FILE.jsonl", help="Write every audit of the solver.", hidden=True)]
Resume = Annotated[
    bool, _output("--resume", help="Write in blocks, and go on after those that are there (with -m, -o).", hidden=True)
]
Set = Annotated[list[str] | None, _output(
    "--set", metavar="NAME=VALUE", hidden=True, help="What few need, see the end; repeatable.",
)]  # fmt: skip
Strict = Annotated[bool, _output("--strict", help="Exit with 3 if the gap was not reached.", hidden=True)]
Force = Annotated[bool, _output("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, _output("--quiet", "-q", help="No progress and no messages but errors.")]
Verbose = Annotated[bool, _output("--verbose", "-v", help="More messages.", hidden=True)]
HelpAll = Annotated[bool, _output("--help-all", callback=show_all, is_eager=True, help="Show all options, and exit.")]
Debug = Annotated[bool, _output("--debug", help="Show the traceback of an error.")]


def reads_corpus(*, hidden: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command have the options of how a corpus is read, which fill its parameter `reading`, and --help-all.

    hidden: those that are in --help-all alone, as is --untranslated.
    """
    kinds: dict[str, tuple[Any, Any]] = {
        "columns": (Annotated[Any, _columns(hidden="columns" in hidden)], None),
        "source_language": (Annotated[str | None, _source(hidden="source" in hidden)], None),
        "target_language": (Annotated[str | None, _target(hidden="target" in hidden)], None),
        "untranslated": (Annotated[bool, _untranslated()], False),
    }

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*args: Any, help_all: bool = False, **options: Any) -> None:
            how = {name.removesuffix("_language"): options.pop(name, default) for name, (_, default) in kinds.items()}
            command(*args, reading=Reading(**how), **options)

        signature, parameters = inspect.signature(command), []
        for own in signature.parameters.values():
            ours = [own.replace(name=name, annotation=kind, default=default) for name, (kind, default) in kinds.items()]
            parameters += ours if own.name == "reading" else [own]
        last = inspect.Parameter("help_all", parameters[-1].kind, default=False, annotation=HelpAll)
        vars(run)["__signature__"] = signature.replace(parameters=[*parameters, last])
        return run

    return with_options
