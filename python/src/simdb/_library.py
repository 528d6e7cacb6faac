"""The shared library: calls, errors, and the Arrow C data interface."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from ._errors import SimdbError, error_of
from ._sources import Inputs, plain

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
    keywords = request.get("keywords", {})
    with Inputs(keywords.get("temp_dir")) as given:
        for name, table in tables:
            text = keywords.get("text") if name == "<table>" else keywords.get("against_text") or keywords.get("text")
            given.add(name, table, text, near=keywords.get("near") is not None)
        names = [name.encode() for name, _ in given.arrow]
        streams = (ctypes.c_void_p * len(names))(*[_capsule_pointer(c, b"arrow_array_stream") for _, c in given.arrow])
        body = json.dumps({**request, **given.request}, default=plain, allow_nan=False).encode()
        address, count = (None, 0) if numbers is None else numbers.buffer_info()
        listed, handle = (ctypes.c_char_p * len(names))(*names), ctypes.c_size_t()
        try:
            lib.simdb_start(body, len(body), streams, listed, len(names), address, count, now, handle)
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
