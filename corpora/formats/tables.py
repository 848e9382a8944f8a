"""Parquet and Arrow files, read by row groups and record batches; the package pyarrow does that."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Any

from corpora import SettingError
from corpora.errors import BrokenLine, CorpusError
from corpora.files import StrPath
from corpora.formats.columns import find_column, named_columns
from corpora.formats.joint import Columns, listed, with_names

_MAGIC = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow stream"}
_ROWS = 8192  # at once, of a row group


def kind_of_table(path: StrPath) -> str | None:
    """The kind of a table by the first bytes of its file, or None if it is no table."""
    with Path(path).open("rb") as file:
        head = file.read(8)
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


class ColumnTable:
    """A table in a Parquet or Arrow file.  names: of columns.

    Raises SettingError without pyarrow, CorpusError on a damaged file.
    """

    of_languages = False

    def __init__(self, path: StrPath, kind: str) -> None:
        try:
            import pyarrow
            import pyarrow.compute
            import pyarrow.parquet
        except ModuleNotFoundError as error:
            what = f"{path} is a {kind} file, which needs pyarrow (pip install pyarrow)"
            raise SettingError(what) from error
        self.path, self.kind, self._arrow = path, kind, pyarrow
        with self._open() as reader:
            schema = reader.schema_arrow if kind == "Parquet" else reader.schema
        self.names: list[str] = schema.names
        self._texts_in = [*self._named(schema)]

    def columns(self, source: str | None, target: str | None) -> Columns:
        return named_columns(self.path, source, target, self._texts_in)

    def _named(self, fields: Iterable[Any], outer: str = "") -> Iterator[str]:
        """The columns of text or tokens among fields of a schema, and those within others."""
        types = self._arrow.types
        for field in fields:
            kind = field.type
            if types.is_struct(kind):
                yield from self._named(kind, f"{outer}{field.name}.")
                continue
            if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
                kind = kind.value_type
            if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind):
                yield outer + field.name

    def count(self, columns: Columns) -> int:
        with self._open() as reader:
            return sum(rows for rows, _ in self._groups(reader, None))

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each row, from 1 on.  start: rows to pass over.

        Raises BrokenLine for a row without text, but goes on with the next; CorpusError for missing columns.
        """
        columns = with_names(columns, self.names)
        places = [find_column(self._texts_in, name) for name in columns]
        first, second = (name if at is None else self._texts_in[at] for name, at in zip(columns, places, strict=True))
        columns = first, second
        for name in columns:
            if name not in self.names and name.partition(".")[0] not in self.names:
                what = f"has no column '{name}', but {listed(self.names)}"
                raise CorpusError(self.path, 0, what, hint="choose those of source and target with `columns`")

        def parse(number: int, sides: tuple[bytes | None, bytes | None]) -> tuple[int, bytes, bytes]:
            if None in sides:
                what = f"has nothing in column '{columns[sides.index(None)]}'"
                raise BrokenLine(self.path, number, what, hint="give it an empty text")
            source, target = (side.replace(b"\n", b" ") for side in sides if side is not None)
            return number, source, target

        return map(parse, count(start + 1), chain.from_iterable(self._rows(columns, start)))

    def _rows(self, columns: Columns, start: int) -> Iterator[Iterator[tuple[bytes | None, bytes | None]]]:
        with self._open() as reader:
            for rows, batches in self._groups(reader, columns):
                if start >= rows:
                    start -= rows
                    continue
                read = 0
                for batch in batches:
                    batch.validate(full=True)  # pyarrow trusts the offsets in a file, and reads where they say
                    rest = batch.slice(min(start, len(batch)))
                    yield zip(*(self._texts(rest, name) for name in columns), strict=True)
                    start, read = max(0, start - len(batch)), read + len(batch)
                if read != rows:
                    raise self._arrow.ArrowInvalid(f"there are {read} rows where {rows} should be")

    def _groups(self, reader: Any, columns: Columns | None) -> Iterator[tuple[int, Iterable[Any]]]:
        """The rows of each row group or record batch, and what reads them."""
        if self.kind == "Parquet":
            counts = [reader.metadata.row_group(group).num_rows for group in range(reader.num_row_groups)]
            if sum(counts) != reader.metadata.num_rows or min(counts, default=0) < 0:
                raise self._arrow.ArrowInvalid("its row groups have not as many rows as it has")
            for group, rows in enumerate(counts):
                yield rows, reader.iter_batches(_ROWS, row_groups=[group], columns=columns)
        elif self.kind == "Arrow":
            yield from ((len(batch), [batch]) for batch in map(reader.get_batch, range(reader.num_record_batches)))
        else:
            yield from ((len(batch), [batch]) for batch in reader)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        arrow = self._arrow
        try:
            if self.kind == "Parquet":
                opened = arrow.parquet.ParquetFile(self.path)
            else:
                open_ = arrow.ipc.open_file if self.kind == "Arrow" else arrow.ipc.open_stream
                opened = open_(arrow.memory_map(str(self.path)))
            with opened as reader:
                yield reader
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            what = f"is no whole {self.kind} file: {(str(error).splitlines() or ['damaged'])[0]}"
            raise CorpusError(self.path, 0, what, hint="copy or make the file again") from error

    def _texts(self, batch: Any, name: str) -> list[bytes | None]:
        arrow = self._arrow
        root, *fields = [name] if name in self.names else name.split(".")
        try:
            column = arrow.compute.struct_field(batch.column(root), fields) if fields else batch.column(root)
            if hasattr(column, "dictionary_decode"):
                column = column.dictionary_decode()
            if arrow.types.is_list(column.type) or arrow.types.is_large_list(column.type):  # of tokens
                column = arrow.compute.binary_join(column, " ")
            texts: list[bytes | None] = column.cast(arrow.large_binary()).to_pylist()
        except (arrow.ArrowException, LookupError) as error:
            what = f"has no text or tokens in column '{name}'"
            raise CorpusError(self.path, 0, what, hint="choose others with `columns`") from error
        return texts
