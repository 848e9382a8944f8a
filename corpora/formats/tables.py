"""Parquet and Arrow files, read by row groups and record batches; the package pyarrow does that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from typing import Any

from corpora import SettingError
from corpora.errors import BrokenLine, CorpusError
from corpora.files import StrPath
from corpora.formats.joint import Columns, are_numbers

_MAGIC = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow stream"}
_ROWS = 8192  # at once, of a row group


def kind_of_table(path: StrPath) -> str | None:
    """What a file is by its first bytes, if it is a table."""
    with Path(path).open("rb") as file:
        head = file.read(8)
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


class Table:
    """A table in a file of some kind.  names: of its columns.

    Raises SettingError without pyarrow, CorpusError on a damaged file.
    """

    def __init__(self, path: StrPath, kind: str) -> None:
        try:
            import pyarrow
            import pyarrow.compute
            import pyarrow.parquet
        except ModuleNotFoundError as error:
            what = f"{path} is a {kind} file, which needs pyarrow (pip install 'aligner[arrow]')"
            raise SettingError(what) from error
        self.path, self.kind, self._arrow = path, kind, pyarrow
        with self._open() as reader:
            schema = reader.schema_arrow if kind == "Parquet" else reader.schema
            self.names: list[str] = schema.names

    def count(self) -> int:
        """How many rows there are."""
        if self.kind != "Parquet":
            return sum(len(batch) for _, batch in self._batches(None, 0))
        with self._open() as reader:
            return int(reader.metadata.num_rows)

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each row, from 1 on.  start: rows to pass over.

        Raises BrokenLine for a row without text, those after it can still be taken; CorpusError for missing columns.
        """
        if are_numbers(columns):
            columns = tuple(self.names[int(c) - 1] if 0 < int(c) <= len(self.names) else c for c in columns)  # type: ignore[assignment]
        for name in columns:
            if name not in self.names and name.partition(".")[0] not in self.names:
                what = f"has no column '{name}', but {', '.join(self.names)}"
                raise CorpusError(self.path, 0, what, hint="choose two with `columns`")

        def parse(number: int, sides: tuple[bytes | None, bytes | None]) -> tuple[int, bytes, bytes]:
            source, target = sides
            if source is None or target is None:
                name = columns[0 if source is None else 1]
                raise BrokenLine(self.path, number, f"has nothing in column '{name}'", hint="give it an empty text")
            return number, source.replace(b"\n", b" "), target.replace(b"\n", b" ")

        return map(parse, count(start + 1), chain.from_iterable(self._rows(columns, start)))

    def _rows(self, columns: Columns, start: int) -> Iterator[Iterator[tuple[bytes | None, bytes | None]]]:
        for first, batch in self._batches(columns, start):
            if first + len(batch) > start:
                rest = batch.slice(max(0, start - first))
                yield zip(*(self._texts(rest, name) for name in columns), strict=True)

    def _batches(self, columns: Columns | None, start: int) -> Iterator[tuple[int, Any]]:
        """Record batches, each with the number of rows before it; of Parquet from the row group of the start on."""
        arrow, before, group = self._arrow, 0, 0
        try:
            with self._open() as reader:
                if self.kind == "Parquet":
                    rows = [reader.metadata.row_group(k).num_rows for k in range(reader.num_row_groups)]
                    while group < len(rows) and before + rows[group] <= start:
                        before, group = before + rows[group], group + 1
                    batches = reader.iter_batches(_ROWS, row_groups=range(group, len(rows)), columns=columns)
                elif self.kind == "Arrow":
                    batches = map(reader.get_batch, range(reader.num_record_batches))
                else:
                    batches = reader
                for batch in batches:
                    yield before, batch
                    before += len(batch)
        except (arrow.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _open(self) -> Any:
        arrow = self._arrow
        try:
            if self.kind == "Parquet":
                return arrow.parquet.ParquetFile(self.path)
            file = arrow.memory_map(str(self.path))
            return arrow.ipc.open_file(file) if self.kind == "Arrow" else arrow.ipc.open_stream(file)
        except (arrow.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _texts(self, batch: Any, name: str) -> list[bytes | None]:
        arrow = self._arrow
        root, *fields = [name] if name in self.names else name.split(".")
        try:
            column = arrow.compute.struct_field(batch.column(root), fields) if fields else batch.column(root)
            if hasattr(column, "dictionary_decode"):
                column = column.dictionary_decode()
            if arrow.types.is_list(column.type) or arrow.types.is_large_list(column.type):  # tokens
                column = arrow.compute.binary_join(column, " ")
            texts: list[bytes | None] = column.cast(arrow.large_binary()).to_pylist()
        except (arrow.ArrowException, LookupError) as error:
            what = f"has no text or tokens in column '{name}'"
            raise CorpusError(self.path, 0, what, hint="choose others with `columns`") from error
        return texts

    def _damaged(self, error: Exception) -> CorpusError:
        what = f"is no whole {self.kind} file: {str(error).splitlines()[0]}"
        return CorpusError(self.path, 0, what, hint="copy or make the file again")
