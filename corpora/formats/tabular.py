"""Which files have columns, each a text, and what opens them."""

from collections.abc import Callable
from functools import partial

from corpora.files import StrPath
from corpora.formats import interlinear
from corpora.formats.archives import Archive, is_archive
from corpora.formats.interlinear import InterlinearFile
from corpora.formats.joint import Tabular
from corpora.formats.sheets import Sheet, kind_of_sheet
from corpora.formats.tables import ColumnTable, kind_of_table
from corpora.formats.units import UnitFile, kind_of_units


def table_opener(path: StrPath, untranslated: bool = False) -> Callable[[], Tabular] | None:
    """What opens a file that has columns, and a name for each; None for any other file."""
    if kind := kind_of_table(path):
        return partial(ColumnTable, path, kind)
    if kind := kind_of_units(path):
        if kind in interlinear.KINDS:
            return partial(InterlinearFile, path, kind)
        return partial(UnitFile, path, kind, untranslated)
    if kind := kind_of_sheet(path):
        return partial(Sheet, path, kind)
    return partial(Archive, path) if is_archive(path) else None
