"""What documents may be given as: tables, columns, streams, files, rows."""

from __future__ import annotations

import array
import base64
import json
import operator
import os
import re
import tempfile
from importlib import import_module
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

_LINES = 1 << 22  # characters of rows that are passed in memory; more go to a file
_ENDINGS = (".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv")
_COMPRESSED = (".gz", ".zst")
_HASH = re.compile("(0[xX])?([0-9a-fA-F]{16}){1,16}")


class Inputs:
    """The documents of one call, by the names of their tables. Use it in a ``with`` block.

    Attributes:
        arrow: names and capsules of Arrow streams.
        request: the parts of the request that describe the other documents.
    """

    def __init__(self, temp_dir: Any = None) -> None:
        self.arrow: List[Tuple[str, Any]] = []
        self.request: Dict[str, Any] = {}
        self._temp_dir = temp_dir
        self._made: List[str] = []

    def __enter__(self) -> "Inputs":
        return self

    def __exit__(self, *error: Any) -> None:
        for path in self._made:
            os.unlink(path)

    def add(self, name: str, what: Any, text: Any, near: bool = False) -> None:
        """Adds documents. A column without a name has the name text, if that is one; with near and without text, one of
        hexadecimal digits has fingerprints."""
        given = _files(what)
        if given is not None:
            self._add("files", name, given)
            return
        text = text if isinstance(text, str) else "" if near and not text else "text"
        what = _as_table(what, text)
        if isinstance(what, _Lazy):
            path = self._file(".parquet")
            what.write(path)
            self._add("files", name, [path])
        elif hasattr(what, "__arrow_c_stream__"):
            self._stream(name, what)
        else:
            self._rows(name, _rows(what, text))

    def _add(self, part: str, name: str, value: Any) -> None:
        self.request.setdefault(part, {})[name] = value

    def _file(self, ending: str) -> str:
        number, path = tempfile.mkstemp(ending, "simdb-", self._temp_dir)
        os.close(number)
        self._made.append(path)
        return path

    def _stream(self, name: str, what: Any) -> None:
        try:
            capsule = what.__arrow_c_stream__()
        except ImportError:  # pandas without pyarrow
            self._rows(name, _rows({str(c): what[c] for c in what.columns}, "text"))
            return
        self.arrow.append((name, capsule))
        # What has a length lies in memory. A relation of DuckDB has one, too, which it computes.
        if not hasattr(what, "__len__") or type(what).__module__.startswith(("duckdb", "_duckdb")):
            self.request.setdefault("streams", []).append(name)

    def _rows(self, name: str, rows: Iterable[Dict[str, Any]]) -> None:
        lines: List[str] = []
        size, path = 0, ""
        for row in rows:
            lines.append(_line(row))
            size += len(lines[-1])
            if size > _LINES:
                path = path or self._file(".jsonl")
                with open(path, "a", encoding="utf-8") as f:
                    f.writelines(lines)
                lines, size = [], 0
        if path:
            with open(path, "a", encoding="utf-8") as f:
                f.writelines(lines)
            self._add("spooled", name, path)
        else:
            self._add("docs", name, "".join(lines))


class _Lazy(NamedTuple):
    """A query that writes its rows to a Parquet file."""

    write: Callable[[str], Any]


def _is_path(what: Any) -> bool:
    return isinstance(what, (str, os.PathLike))


def _files(what: Any) -> Optional[List[str]]:
    """Returns the paths and patterns that an argument gives, or None for other documents."""
    if isinstance(what, (list, tuple)) and what and all(isinstance(w, os.PathLike) for w in what):
        paths = list(what)
    elif _is_path(what):
        paths = [what]
    else:
        return None
    for path in paths:
        if isinstance(path, str) and len(path.split()) > 2 and not os.path.exists(path) and not any(c in path for c in "*?["):
            raise TypeError(f"a string is the path of a file, and there is no file {path[:60]!r}: texts are given as a column, such as {{'text': [...]}}")
    return [name for path in paths for name in _in_folder(path_of(path))]


def is_stored(what: Any) -> bool:
    """Reports whether an argument is the path of a database, or of table files."""
    return _is_path(what) and (path_of(what).endswith(".sst") or os.path.exists(os.path.join(path_of(what), "CATALOG")))


def _in_folder(path: str) -> List[str]:
    """Returns the files with documents in a folder, or the path itself if it is no folder."""
    if not os.path.isdir(path):
        return [path]
    if is_stored(path):
        raise TypeError(f"{path} is a database, not a table: simdb.open({path!r}) opens it, and against={path!r} compares with it")
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "_")))
        for name in sorted(names):
            stem = name
            for c in _COMPRESSED:
                stem = stem[: -len(c)] if stem.lower().endswith(c) else stem
            if stem.lower().endswith(_ENDINGS) and not name.startswith((".", "_")):
                found.append(os.path.join(folder, name))
    if not found:
        raise ValueError(f"{path}: no file in this folder ends in {', '.join(_ENDINGS)}; a pattern such as {os.path.join(path, '*.txt')!r} names others")
    return found


def _as_table(what: Any, text: str) -> Any:
    """Returns an object with an Arrow stream, a _Lazy, or rows or columns."""
    if isinstance(what, dict) and what and all(hasattr(v, "with_format") for v in what.values()):
        first = next(iter(what))
        raise TypeError(f"this DatasetDict has the splits {', '.join(map(str, what))}: give one of them, such as dataset[{first!r}]")
    if hasattr(what, "with_format"):  # of the package datasets
        return _dataset(what)
    if hasattr(what, "sink_parquet"):  # a LazyFrame
        return _Lazy(what.sink_parquet)
    if hasattr(what, "to_frame") and not hasattr(what, "columns"):  # a Series of pandas or polars
        name = _name_of(str(what.dtype), text, what)
        if name == "fingerprint" and "int" not in str(what.dtype).lower():
            return {name: values_of(what)}
        return what.alias(name).to_frame() if hasattr(what, "alias") else what.to_frame(name)
    if type(what).__module__.split(".")[0] == "pyarrow":
        return _of_pyarrow(what, text)
    if hasattr(what, "__array_interface__"):
        return _of_numpy(what, text)
    if hasattr(what, "__arrow_c_array__") and not hasattr(what, "__arrow_c_stream__"):
        if hasattr(what, "to_pylist"):
            values = what.to_pylist()
            return values if values and isinstance(values[0], dict) else {_name_of(type(values[0]).__name__ if values else "", text, values): values}
        return import_module("pyarrow").record_batch(what)
    return what


def _name_of(kind: str, text: str, values: Iterable[Any]) -> str:
    """Returns the name of a column alone: text or, if that is "", what its first value is."""
    if kind.lower().startswith(("int", "uint")):
        return "fingerprint"
    return text or ("fingerprint" if _HASH.fullmatch(str(next(iter(values), ""))) else "text")


def _dataset(what: Any) -> Any:
    """Returns the rows of a Dataset, which lie in memory or in a mapped file, or of an IterableDataset."""
    if hasattr(what, "__len__"):
        return what.with_format("arrow")[:]
    return iter(what)


def _of_pyarrow(what: Any, text: str) -> Any:
    pyarrow: Any = import_module("pyarrow")
    if hasattr(what, "iter_batches"):  # a ParquetFile
        return pyarrow.RecordBatchReader.from_batches(what.schema_arrow, what.iter_batches())
    if hasattr(what, "scanner"):  # a Dataset
        what = what.scanner()
    if hasattr(what, "to_reader") and not hasattr(what, "num_rows"):  # a Scanner
        return what.to_reader()
    if isinstance(what, pyarrow.ChunkedArray):
        if pyarrow.types.is_struct(what.type):
            return pyarrow.Table.from_batches([pyarrow.RecordBatch.from_struct_array(c) for c in what.chunks])
        name = _name_of(str(what.type), text, what)
        return pyarrow.table({name: what}) if name != "fingerprint" or "int" in str(what.type) else {name: values_of(what)}
    if isinstance(what, pyarrow.Array):
        return _of_pyarrow(pyarrow.chunked_array([what]), text)
    return what


def _of_numpy(what: Any, text: str) -> Any:
    import numpy

    values = numpy.asarray(what)
    if values.dtype.names:
        return {name: values[name] for name in values.dtype.names}
    values = narrowed(values) if values.ndim == 2 else values
    if values.dtype.kind in "biu" and values.dtype.itemsize == 1 and values.ndim == 2:  # bits or bytes of hashes
        return {"fingerprint": list(values)}
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.ndim in (1, 2):
        words = values.reshape(len(values), -1).astype(numpy.uint64).tolist()
        return {"fingerprint": [row[0] if len(row) == 1 else row for row in words]}
    if values.ndim != 1 or values.dtype.kind not in "OUT":
        raise TypeError(
            f"an array of the type {values.dtype} and the shape {values.shape} is no table: texts have the shape (n,), "
            "fingerprints are uint64 of the shape (n,) or (n, words), or bits of the shape (n, bits)"
        )
    return values.tolist()


def _rows(what: Any, text: str) -> Iterator[Dict[str, Any]]:
    """Yields the rows of a dictionary, which is one or has columns, or of rows or texts."""
    if isinstance(what, dict):
        if is_row(what):
            yield what
            return
        columns = {name: values_of(c) for name, c in what.items()}
        lengths = {name: len(c) for name, c in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns have different lengths: {lengths}")
        for values in zip(*columns.values()):
            yield dict(zip(columns, values))
        return
    if what is None or isinstance(what, (bytes, bytearray)) or not hasattr(what, "__iter__"):
        raise TypeError(
            "documents are a table (of pyarrow, polars, pandas, DuckDB, datasets, or another object with __arrow_c_stream__), "
            "the path of a file or a pattern of paths, a list or a generator of texts or of dictionaries, "
            f"or a dictionary of columns, not {type(what).__name__}"
        )
    for n, row in enumerate(what):
        if isinstance(row, dict):
            yield row
        elif isinstance(row, str) or is_null(row):
            text = _name_of("", text, [row])
            yield {text: row}
        elif isinstance(row, int) and not isinstance(row, bool):
            yield {"fingerprint": row}
        else:
            raise TypeError(f"row {n} is neither a text, a fingerprint nor a dictionary, but {type(row).__name__}")


def _line(row: Dict[str, Any]) -> str:
    """Returns a row as a JSON line."""
    values = {str(k): None if is_null(v) else v for k, v in row.items()}
    if values.get("fingerprint") is not None:
        values["fingerprint"] = _print(values["fingerprint"])
    try:
        return json.dumps(values, default=plain, allow_nan=False) + "\n"
    except ValueError as e:  # infinity, or NaN within a list, is no JSON
        raise ValueError(f"a row cannot be written as JSON: {e}") from None


def _print(value: Any) -> Any:
    """Returns a fingerprint as JSON has it: wide ones in hexadecimal."""
    if isinstance(value, str) or getattr(value, "shape", None) == ():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        digits = -(-value.bit_length() // 64) * 16
        return value if digits <= 16 else f"0x{value:0{digits}x}"
    if not isinstance(value, (bytes, bytearray, list, tuple)) and not hasattr(value, "__array__") and not is_image_hash(value):
        return value
    return "0x" + "".join(f"{w:016x}" for w in words_of(value))


def is_image_hash(value: Any) -> bool:
    """Reports whether a value is an ImageHash of the package imagehash."""
    return hasattr(getattr(value, "hash", None), "shape")


def words_of(value: Any) -> "array.array[int]":
    """Returns the words of one fingerprint, the most significant first: of bytes, of bits or words of numpy, of an
    ImageHash, or of a list of words."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raw = bytes(value)
    else:
        value = value.hash if is_image_hash(value) else value
        if not hasattr(value, "__array__"):
            return _whole(value)
        import numpy

        bits = narrowed(numpy.asarray(value).reshape(-1))
        if bits.dtype.itemsize == 8 and bits.dtype.kind in "iu":
            return array.array("Q", bits.astype(numpy.uint64).tobytes())
        if bits.dtype.kind not in "biu" or bits.dtype.itemsize != 1:
            raise TypeError(f"a fingerprint is uint64, bytes or bits, not an array of {bits.dtype}")
        raw = bits.astype(numpy.uint8).tobytes()
        if bits.dtype.kind == "b" or len(raw) >= 64 and max(raw) <= 1:
            raw = numpy.packbits(bits.astype(bool)).tobytes()
    if not raw or len(raw) % 8:
        raise ValueError(f"a fingerprint has a multiple of 8 bytes, not {len(raw)}")
    return array.array("Q", [int.from_bytes(raw[i : i + 8], "big") for i in range(0, len(raw), 8)])


def narrowed(values: Any) -> Any:
    """Returns an array of bits that are numbers of 64 bits, as pdqhash has them, as one of bytes; another as it is.

    Fingerprints have at most 16 words, so that 64 numbers of a fingerprint are bits.
    """
    if values.dtype.kind not in "iu" or values.shape[-1] < 64 or not values.size or values.min() < 0 or values.max() > 1:
        return values
    return values.astype("uint8")


def _whole(values: Iterable[Any]) -> "array.array[int]":
    """Returns whole numbers of 64 bits, with a sign or without, as words."""
    values = list(values)
    for v in values:
        if not hasattr(v, "__index__"):
            raise TypeError(f"a fingerprint is a whole number of 64 bits, not {v!r}")
        if not -(1 << 63) <= v < 1 << 64:
            raise ValueError(f"a fingerprint is a whole number of 64 bits, not {v!r}")
    return array.array("Q", [operator.index(v) & ((1 << 64) - 1) for v in values])


def is_row(what: Any) -> bool:
    """Reports whether a dictionary is one document, rather than columns by name."""
    return isinstance(what, dict) and any(isinstance(v, (str, bytes)) or not hasattr(v, "__iter__") for v in what.values())


def is_null(value: Any) -> bool:
    """Reports whether a value is none: None, or NaN, NaT or NA, as numpy and pandas have them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return getattr(value, "shape", ()) == () and bool(value != value)


def values_of(values: Any) -> List[Any]:
    """Returns the values of a list, an array or a column as a list, with None for null."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, name):
            return list(getattr(values, name)())
    return list(values)


def plain(value: Any) -> Any:
    """Converts a value of another type for json.dumps."""
    if hasattr(value, "tolist"):  # a number or an array of numpy
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return path_of(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    raise TypeError(f"{value!r} of the type {type(value).__name__} cannot be a value of a document")


def path_of(path: Any) -> str:
    """Returns a path as a string. Requests are JSON: a path that is not UTF-8 is a UnicodeEncodeError."""
    path = os.fsdecode(path)
    path.encode()
    return str(path)
