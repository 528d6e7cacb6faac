"""Exceptions, with the messages of the engine."""

from __future__ import annotations

from typing import Any, Dict


class SimdbError(Exception):
    """Any error of simdb."""


class NotFoundError(SimdbError, KeyError):
    """There is no document with this id, or no database at this path."""

    __str__ = Exception.__str__


class ExistsError(SimdbError):
    """The document or database already exists."""


class LockedError(SimdbError):
    """Another process has the database open for writing."""


class ReadOnlyError(SimdbError):
    """A write to a database that was opened read-only."""


class ClosedError(SimdbError):
    """The database is closed."""


class ParamsError(SimdbError, ValueError):
    """Options or a query contradict the parameters of the database."""


class InvalidError(SimdbError, ValueError):
    """An empty id, a distance that no fingerprints have, ..."""


class TooLargeError(SimdbError, ValueError):
    """A document, or a result, is over its limit."""


class NotDatabaseError(SimdbError):
    """The path is not a database."""


class NoSketchesError(SimdbError):
    """JACCARD in a database without sketches."""


class FailedError(SimdbError, OSError):
    """A write failed; the database accepts no more writes until it is opened again."""


class CorruptionError(SimdbError):
    """A file is damaged.

    Attributes:
        file: its name.
        section: the damaged part.
        offset: in bytes; -1 if there is none.
    """

    file = ""
    section = ""
    offset = -1


class ParseError(SimdbError, ValueError):
    """A statement cannot be parsed.

    Attributes:
        line, column: the place, both from 1.
    """

    line = 0
    column = 0


class KeywordError(SimdbError, TypeError):
    """A function has no such keyword."""


class CancelledError(SimdbError):
    """The call was cancelled."""


_KINDS = {
    "not_found": NotFoundError, "exists": ExistsError, "locked": LockedError, "read_only": ReadOnlyError,
    "closed": ClosedError, "params": ParamsError, "invalid": InvalidError, "too_large": TooLargeError,
    "not_database": NotDatabaseError, "no_sketches": NoSketchesError, "failed": FailedError,
    "corruption": CorruptionError, "parse": ParseError, "cancelled": CancelledError,
    "keyword": KeywordError,
}


def error_of(failure: Dict[str, Any]) -> SimdbError:
    """Returns the exception for an error of the library."""
    e = _KINDS.get(failure["kind"], SimdbError)(failure["text"])
    for name in ("file", "section", "offset", "line", "column"):
        if name in failure and hasattr(e, name):
            setattr(e, name, failure[name])
    return e
