"""The shared library: calls, errors, and the Arrow C data interface."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import sys
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ._errors import SimdbError, error_of

_NAMES = {"win32": "simdb.dll", "darwin": "libsimdb.dylib"}
_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAMES.get(sys.platform, "libsimdb.so"))
_WAIT = 100  # milliseconds between two looks at a Ctrl-C

_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None
_process = 0  # that has loaded it


class _Stream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


class _Schema(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_void_p), ("name", ctypes.c_void_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
    ]


class _Array(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")] + [
        (name, ctypes.c_void_p) for name in ("buffers", "children", "dictionary", "release", "private_data")
    ]


class ColumnData(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("format", ctypes.c_char_p), ("nulls", ctypes.c_int64), ("buffers", ctypes.c_int64),
        ("buffer", ctypes.c_void_p * 3), ("bytes", ctypes.c_int64 * 3),
    ]


class TableData(ctypes.Structure):
    _fields_ = [
        ("references", ctypes.c_int64), ("rows", ctypes.c_int64), ("columns", ctypes.c_int64),
        ("column", ctypes.POINTER(ColumnData)),
    ]


_TablePointer = ctypes.POINTER(TableData)


def library() -> ctypes.CDLL:
    """Returns the library, which the first call loads.

    A process that was forked from one that had loaded it cannot use it: the threads of Go are not
    there. Start such processes with ``multiprocessing.get_context("spawn")``, or use simdb in them
    alone.
    """
    global _loaded, _process
    if _loaded is None:
        with _lock:
            if _loaded is None:
                lib = ctypes.CDLL(_PATH)
                _declare(lib)
                _process = os.getpid()
                _loaded = lib
    if _process != os.getpid():
        raise SimdbError(
            "this process was forked from one that had used simdb, whose threads it lacks: "
            'start it with multiprocessing.get_context("spawn"), or use simdb in the forked processes alone'
        )
    return _loaded


def usable() -> bool:
    """Reports whether the library is loaded, by this process."""
    return _loaded is not None and _process == os.getpid()


def _declare(lib: ctypes.CDLL) -> None:
    out = ctypes.POINTER(_TablePointer)
    lib.simdb_start.argtypes = [
        ctypes.c_char_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_char_p), ctypes.c_int64,
        ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.POINTER(ctypes.c_size_t),
    ]
    lib.simdb_start.restype = None
    lib.simdb_wait.argtypes = [ctypes.c_size_t, ctypes.c_int64]
    lib.simdb_cancel.argtypes = [ctypes.c_size_t]
    lib.simdb_cancel.restype = None
    lib.simdb_result.argtypes = [ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p), out, out]
    lib.simdb_result.restype = None
    lib.simdb_free.argtypes = [ctypes.c_void_p]
    lib.simdb_free.restype = None
    lib.simdb_table_new.argtypes = [ctypes.c_int64, ctypes.c_int64]
    lib.simdb_table_new.restype = _TablePointer
    lib.simdb_table_free.argtypes = [_TablePointer]
    lib.simdb_table_free.restype = None
    lib.simdb_table_stream.argtypes = [_TablePointer, ctypes.POINTER(_Stream)]
    lib.simdb_table_column.argtypes = [_TablePointer, ctypes.c_int64, ctypes.POINTER(_Schema), ctypes.POINTER(_Array)]
    lib.simdb_version.restype = ctypes.c_char_p
    lib.simdb_main.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    for name in ("stream", "schema", "array"):
        release = getattr(lib, f"simdb_{name}_release")
        release.argtypes, release.restype = [ctypes.c_void_p], None


class Reply(NamedTuple):
    """The result of a call."""

    values: Any
    table: Any  # a pointer, or None
    mask: Any  # the same


def call(request: Dict[str, Any], tables: Sequence[Tuple[str, Any]] = (), numbers: Any = None, now: bool = False) -> Reply:
    """Makes a call with documents, and with a buffer of words of fingerprints.

    With now it is made by this thread, as it takes microseconds.

    The interpreter lock is free while the library works. KeyboardInterrupt, and whatever else a
    signal handler raises, ends the call first.
    """
    lib = library()
    capsules, names = [], []
    for name, table in tables:
        if hasattr(table, "__arrow_c_stream__"):
            capsules.append(table.__arrow_c_stream__())
            names.append(name.encode())
        else:
            request.setdefault("docs", {})[name] = _json_lines(table)
    streams = (ctypes.c_void_p * len(capsules))(*[_capsule_pointer(c, b"arrow_array_stream") for c in capsules])
    text = json.dumps(request, default=_plain, allow_nan=False).encode()
    address, count = (None, 0) if numbers is None else numbers.buffer_info()
    listed, handle = (ctypes.c_char_p * len(names))(*names), ctypes.c_size_t()
    try:
        lib.simdb_start(text, len(text), streams, listed, len(names), address, count, now, handle)
        while not now and not lib.simdb_wait(handle, _WAIT):
            pass
    except BaseException:
        if handle:
            lib.simdb_cancel(handle)
            _result(lib, handle, free=True)
        raise
    return _result(lib, handle)


def _result(lib: ctypes.CDLL, handle: ctypes.c_size_t, free: bool = False) -> Reply:
    text, table, mask = ctypes.c_char_p(), _TablePointer(), _TablePointer()
    lib.simdb_result(handle, ctypes.byref(text), ctypes.byref(table), ctypes.byref(mask))
    out = json.loads(text.value or b"{}")
    lib.simdb_free(text)
    if free:
        for t in (table, mask):
            lib.simdb_table_free(t)
        return Reply(None, None, None)
    if "error" in out:
        raise error_of(out["error"])
    return Reply(out.get("values"), table if table else None, mask if mask else None)


def _json_lines(rows: Any) -> str:
    """Returns rows, or columns by name, as JSON lines."""
    if isinstance(rows, dict) and not is_row(rows):
        columns = {name: values_of(c) for name, c in rows.items()}
        lengths = {name: len(c) for name, c in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns have different lengths: {lengths}")
        rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    elif isinstance(rows, dict):
        rows = [rows]
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, dict) for row in rows):
        raise TypeError(
            "documents are an object with __arrow_c_stream__ (a table of pyarrow, polars, pandas, DuckDB, ...), "
            "a list of dictionaries, or a dictionary of columns" + _way_out(rows)
        )
    try:
        return "".join(json.dumps({k: None if is_null(v) else v for k, v in row.items()}, default=_plain, allow_nan=False) + "\n" for row in rows)
    except ValueError as e:  # infinity, or NaN within a list, is no JSON
        raise ValueError(f"a row cannot be written as JSON: {e}") from None


def _way_out(rows: Any) -> str:
    """Says how to turn an object that is no table into one."""
    if hasattr(rows, "collect"):  # a LazyFrame
        return ": call .collect() first"
    if hasattr(rows, "with_format"):  # a Dataset of datasets
        return ': use dataset.with_format("arrow")[:]'
    if isinstance(rows, (str, os.PathLike)):
        return ": read the file first, as pyarrow.parquet.read_table(path) and polars.read_ndjson(path) do"
    if isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], str):
        return ': write {"text": texts}'
    return f", not {type(rows).__name__}"


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


def _plain(value: Any) -> Any:
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


# Capsules. Their destructors run with the interpreter lock, and give a structure back if no
# consumer has taken it over.
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_get_dying = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_held: Dict[int, Any] = {}  # structures in capsules, by address


def _capsule_pointer(capsule: Any, name: bytes) -> int:
    return int(_get_pointer(capsule, name))


def _destructor(kind: str, name: bytes) -> Any:
    def destroy(capsule: int) -> None:
        address = _get_dying(capsule, name)
        if _loaded is not None:  # the functions that release are of C, and work after a fork, too
            getattr(_loaded, f"simdb_{kind}_release")(address)
        _held.pop(address, None)

    return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(destroy)


_KINDS = {
    _Stream: (b"arrow_array_stream", _destructor("stream", b"arrow_array_stream")),
    _Schema: (b"arrow_schema", _destructor("schema", b"arrow_schema")),
    _Array: (b"arrow_array", _destructor("array", b"arrow_array")),
}


def _capsule(structure: Any) -> Any:
    name, destroy = _KINDS[type(structure)]
    _held[ctypes.addressof(structure)] = structure
    return _new_capsule(ctypes.addressof(structure), name, ctypes.cast(destroy, ctypes.c_void_p))


def stream_capsule(table: Any) -> Any:
    """Returns a capsule with a stream of the rows of a table."""
    s = _Stream()
    if _loaded.simdb_table_stream(table, ctypes.byref(s)):  # type: ignore[union-attr]
        raise MemoryError
    return _capsule(s)


def array_capsules(table: Any, column: int) -> Tuple[Any, Any]:
    """Returns capsules with the type and the values of a column."""
    s, a = _Schema(), _Array()
    if _loaded.simdb_table_column(table, column, ctypes.byref(s), ctypes.byref(a)):  # type: ignore[union-attr]
        raise MemoryError
    return _capsule(s), _capsule(a)


def empty_table() -> Any:
    """Returns a table without columns."""
    return library().simdb_table_new(0, 0)


def free_table(table: Any) -> None:
    """Frees a table."""
    if _loaded is not None:
        _loaded.simdb_table_free(table)


def version() -> str:
    """Returns the version of the library."""
    return str(library().simdb_version().decode())


def main() -> None:
    """The command simdb."""
    args = [os.fsencode(a) for a in sys.argv[1:]]
    library().simdb_main(len(args), (ctypes.c_char_p * len(args))(*args))
