"""Results: tables, their columns, and the mask of a dedup."""

from __future__ import annotations

import ctypes
import operator
import struct
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from . import _library

_NUMBERS = {"l": "q", "L": "Q", "g": "d", "tsu:UTC": "q"}
_DTYPES = {"l": "int64", "L": "uint64", "g": "float64", "tsu:UTC": "datetime64[us]"}


class Table:
    """Rows, as Arrow.

    Anything that takes the Arrow C stream interface takes a Table: ``pyarrow.table(t)``,
    ``polars.DataFrame(t)``, ``pandas.DataFrame.from_arrow(t)``, a query of DuckDB. Without these,
    ``t["score"]`` is a column and ``t.to_pylist()`` a list of dictionaries. The memory is freed when
    nothing refers to it any more.

    Attributes:
        message: of a statement without rows, such as "stored".
        warnings: what is doubtful about the rows of a statement.
    """

    def __init__(self, pointer: Any, message: str = "", warnings: Sequence[str] = ()) -> None:
        self._pointer = pointer
        self.message = message
        self.warnings = list(warnings)
        data = pointer.contents
        self._columns = {data.column[i].name.decode(): i for i in range(data.columns)}

    def __del__(self) -> None:
        _library.free_table(self._pointer)

    def __len__(self) -> int:
        return int(self._pointer.contents.rows)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self)

    @property
    def column_names(self) -> List[str]:
        """The names of the columns."""
        return list(self._columns)

    def __getitem__(self, name: str) -> "Column":
        return Column(self, self._columns[name])

    def to_pydict(self) -> Dict[str, List[Any]]:
        """Returns a list of the values of each column; null is None."""
        return {name: list(self[name]) for name in self._columns}

    def to_pylist(self) -> List[Dict[str, Any]]:
        """Returns a dictionary for each row; null is None."""
        columns = self.to_pydict()
        return [dict(zip(columns, values)) for values in zip(*columns.values())]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _library.stream_capsule(self._pointer)

    def __repr__(self) -> str:
        return f"<simdb.Table: {len(self)} rows of {', '.join(self._columns) or 'no columns'}>"


class Column(Sequence[Any]):
    """The values of a column, as Arrow; of a dedup also the mask.

    ``pyarrow.array(c)``, ``polars.Series(c)`` and ``numpy.asarray(c)`` take it. A sequence of
    values, of which null is None. For numpy there must be no null, but in floating-point numbers,
    where it is NaN.
    """

    def __init__(self, table: Table, number: int) -> None:
        self._table = table
        self._number = number
        self._data = table._pointer.contents.column[number]
        self._format = self._data.format.decode()

    def __len__(self) -> int:
        return len(self._table)

    def _buffer(self, i: int) -> bytes:
        return ctypes.string_at(self._data.buffer[i], self._data.bytes[i])

    def _bits(self, i: int, start: int, end: int) -> List[bool]:
        bits = ctypes.string_at(self._data.buffer[i] + (start >> 3), (end + 7 >> 3) - (start >> 3))
        return [bits[(n >> 3) - (start >> 3)] >> (n & 7) & 1 == 1 for n in range(start, end)]

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            start, end, step = i.indices(len(self))
            return self._values(start, end) if step == 1 and start < end else [self[n] for n in range(start, end, step)]
        i, n = operator.index(i), len(self)
        if not -n <= i < n:
            raise IndexError(i)
        return self._values(i % n, i % n + 1)[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values(0, len(self)))

    def _values(self, start: int, end: int) -> List[Any]:
        if self._format == "b":
            values: List[Any] = self._bits(1, start, end)
        elif self._format == "U":
            ends = struct.unpack(f"={end - start + 1}q", ctypes.string_at(self._data.buffer[1] + 8 * start, 8 * (end - start + 1)))
            text = ctypes.string_at(self._data.buffer[2] + ends[0], ends[-1] - ends[0])
            values = [text[a - ends[0] : b - ends[0]].decode() for a, b in zip(ends, ends[1:])]
        else:
            raw = ctypes.string_at(self._data.buffer[1] + 8 * start, 8 * (end - start))
            values = list(struct.unpack(f"={end - start}{_NUMBERS[self._format]}", raw))
            if self._format == "tsu:UTC":
                values = [_time(v) for v in values]
        if self._data.nulls:
            values = [v if valid else None for v, valid in zip(values, self._bits(0, start, end))]
        return values

    def to_pylist(self) -> List[Any]:
        """Returns the values as a list."""
        return list(self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        if copy is False:
            raise ValueError("numpy needs a copy of a column")
        if self._format == "U":
            out = numpy.array(list(self), dtype=object)
        elif self._format == "b":
            bits = numpy.frombuffer(self._buffer(1), dtype=numpy.uint8)
            out = numpy.unpackbits(bits, count=len(self), bitorder="little").astype(bool)
        else:
            out = numpy.frombuffer(self._buffer(1), dtype=_DTYPES[self._format]).copy()
        if self._data.nulls and self._format != "U":
            if self._format != "g":
                raise ValueError("the column has nulls, which numpy cannot hold: use to_pylist()")
            valid = numpy.frombuffer(self._buffer(0), dtype=numpy.uint8)
            out[~numpy.unpackbits(valid, count=len(self), bitorder="little").astype(bool)] = numpy.nan
        return out if dtype is None else out.astype(dtype)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        return _library.array_capsules(self._table._pointer, self._number)

    def __repr__(self) -> str:
        return f"<simdb.Column: {len(self)} values>"


def _time(microseconds: int) -> Any:
    from datetime import datetime, timedelta, timezone

    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=microseconds)
