"""Results: tables, their columns, and the mask of a dedup."""

from __future__ import annotations

import ctypes
import html
import itertools
import operator
import struct
from importlib import import_module
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union, overload

from . import _library

_SHOWN, _WIDTH = 10, 60  # rows, and letters of a cell
_PANDAS = {"b": "boolean", "l": "Int64", "L": "UInt64", "g": "float64", "U": "string", "tsu:UTC": "datetime64[us, UTC]"}
_NUMBERS = {"l": "q", "L": "Q", "g": "d", "tsu:UTC": "q"}
_BITS = [[n >> i & 1 == 1 for i in range(8)] for n in range(256)]  # of a byte
_DTYPES = {"l": "int64", "L": "uint64", "g": "float64", "tsu:UTC": "datetime64[us]"}


class Table:
    """Rows, as Arrow.

    Anything that takes the Arrow C stream interface takes a Table: ``pyarrow.table(t)``,
    ``polars.DataFrame(t)``, ``pandas.DataFrame.from_arrow(t)``, a query of DuckDB. Without these,
    ``t["score"]`` is a column, ``t[0]`` a row as a dictionary, and a loop over ``t`` gives all rows. The memory
    is freed when nothing refers to it any more.

    Attributes:
        message: of a statement without rows, such as "stored".
        warnings: what is doubtful about the rows of a statement, or about the documents of a dedup.
        near: of hashes of pictures: the distance up to which two pictures count as the same; else None.
    """

    def __init__(self, pointer: Any, message: str = "", warnings: Sequence[str] = ()) -> None:
        self._pointer = pointer
        self.message = message
        self.warnings = list(warnings)
        self.near: Optional[int] = None
        data = pointer.contents
        self._columns = {data.column[i].name.decode(): i for i in range(data.columns)}

    def __del__(self) -> None:
        _library.free_table(self._pointer)

    def __reduce__(self) -> Any:
        raise TypeError("a Table cannot be copied or pickled: pass on what to_pylist(), to_arrow(), to_pandas() or to_polars() returns")

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

    @overload
    def __getitem__(self, key: str) -> "Column": ...

    @overload
    def __getitem__(self, key: int) -> Dict[str, Any]: ...

    def __getitem__(self, key: Union[str, int]) -> Any:
        """Returns a column by its name, or a row by its number."""
        if isinstance(key, str):
            return Column(self, self._columns[key])
        return {name: self[name][key] for name in self._columns}

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.to_pylist())

    def to_pydict(self) -> Dict[str, List[Any]]:
        """Returns a list of the values of each column; null is None."""
        return {name: list(self[name]) for name in self._columns}

    def to_pylist(self) -> List[Dict[str, Any]]:
        """Returns a dictionary for each row; null is None."""
        columns = self.to_pydict()
        return [dict(zip(columns, values)) for values in zip(*columns.values())]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _library.stream_capsule(self._pointer)

    def to_arrow(self) -> Any:
        """Returns a table of pyarrow."""
        return import_module("pyarrow").table(self)

    def to_polars(self) -> Any:
        """Returns a DataFrame of polars."""
        return import_module("polars").DataFrame(self)

    def to_pandas(self) -> Any:
        """Returns a DataFrame of pandas; numbers with nulls have one of its nullable types."""
        pandas: Any = import_module("pandas")
        columns = {name: pandas.Series(self[name].to_pylist(), dtype=_PANDAS[self[name]._format]) for name in self._columns}
        return pandas.DataFrame(columns)

    def _head(self) -> Tuple[List[List[str]], str]:
        """Returns the first rows, and what there is besides."""
        rows = [[_shown(self[name][i]) for name in self._columns] for i in range(min(len(self), _SHOWN))]
        more = len(self) - len(rows)
        return rows, f"{len(self)} rows" + (f", {len(rows)} shown" if more else "") if self._columns else self.message or "no rows"

    def __repr__(self) -> str:
        rows, rest = self._head()
        lines = [list(self._columns), *rows] if self._columns else []
        widths = [max(len(line[i]) for line in lines) for i in range(len(self._columns))]
        shown = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([*shown, f"<simdb.Table: {rest}>"])

    def _repr_html_(self) -> str:
        """Returns the first rows for a notebook."""
        rows, rest = self._head()
        cells = [f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in row)}</tr>" for row in rows]
        names = "".join(f"<th>{html.escape(name)}</th>" for name in self._columns)
        return f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(cells)}</tbody></table><p>{html.escape(rest)}</p>"


class Column(Sequence[Any]):
    """The values of a column, as Arrow.

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
        raw = ctypes.string_at(self._data.buffer[i] + (start >> 3), (end + 7 >> 3) - (start >> 3))
        bits = list(itertools.chain.from_iterable(map(_BITS.__getitem__, raw)))
        return bits[start & 7 : (start & 7) + end - start]

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
        values = ", ".join(map(repr, self[:_SHOWN]))
        return f"<simdb.Column of {len(self)} values: [{values}{', ...' if len(self) > _SHOWN else ''}]>"


class Mask(List[bool]):
    """A boolean for each row: True if it is kept.

    A list, which selects rows as it is: ``df[mask]`` in pandas, ``df.filter(mask)`` in polars,
    ``table.filter(mask)`` in pyarrow, ``array[mask]`` in numpy. ``~mask`` selects the other rows, and
    ``mask & other`` the rows that both select. ``sum(mask)`` is the number of kept rows.
    """

    @property
    def rows(self) -> List[int]:
        """The numbers of the kept rows, as ``dataset.select`` of the package datasets needs them."""
        return [n for n, keep in enumerate(self) if keep]

    def to_pylist(self) -> List[bool]:
        """Returns the values as a list without methods of its own, as a Column does."""
        return list(self)

    def __invert__(self) -> "Mask":
        return Mask(not keep for keep in self)

    def __and__(self, other: Iterable[Any]) -> "Mask":
        return Mask(a and bool(b) for a, b in zip(self, other))

    def __or__(self, other: Iterable[Any]) -> "Mask":
        return Mask(a or bool(b) for a, b in zip(self, other))

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self[:_SHOWN]))
        return f"<simdb.Mask of {len(self)} rows, {sum(self)} kept: [{shown}{', ...' if len(self) > _SHOWN else ''}]>"


def _shown(value: Any) -> str:
    """Returns a value on one line, cut."""
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "\u2026"


def _time(microseconds: int) -> Any:
    from datetime import datetime, timedelta, timezone

    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=microseconds)
