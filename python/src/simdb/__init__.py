"""simdb: near-duplicates of texts, and of hashes of pictures.

    mask, audit = simdb.dedup(table, text="text", jaccard=0.8)
    db = simdb.open("corpus.simdb")
    db.add(table)
    db.near(0x9F3C5A0011223344, 3)

Tables go in as any object with the Arrow C stream interface (pyarrow, polars, pandas, DuckDB, ...),
and come out so. The functions release the interpreter lock; Ctrl-C ends them.
"""

from __future__ import annotations

import os
from typing import Any, List, NamedTuple, Optional, Union

from . import _library
from ._database import Database, Match, Text, _read
from ._errors import (
    CancelledError,
    ClosedError,
    CorruptionError,
    ExistsError,
    FailedError,
    InvalidError,
    LockedError,
    NoSketchesError,
    NotDatabaseError,
    NotFoundError,
    ParamsError,
    ParseError,
    ReadOnlyError,
    SimdbError,
    TooLargeError,
)
from ._library import call as _call
from ._table import Column, Table

__all__ = [
    "CancelledError", "ClosedError", "Column", "CorruptionError", "Database", "Dedup", "ExistsError", "FailedError",
    "InvalidError", "LockedError", "Match", "NoSketchesError", "NotDatabaseError", "NotFoundError", "ParamsError",
    "ParseError", "ReadOnlyError", "SimdbError", "Table", "Text", "TooLargeError", "dedup", "fingerprints", "open",
    "tune", "version",
]


class Dedup(NamedTuple):
    """What dedup has found: see :func:`dedup`."""

    mask: Column
    audit: Table


def dedup(
    table: Any,
    text: Union[str, List[str], None] = None,
    *,
    id: Optional[str] = None,
    jaccard: Optional[float] = None,
    near: Optional[int] = None,
    verify: Optional[float] = None,
    levenshtein: Optional[float] = None,
    cosine: Optional[float] = None,
    within: Optional[float] = None,
    keep: Union[str, List[str], None] = None,
    against: Any = None,
    level: Optional[str] = None,
    memory: Union[str, int, None] = None,
    **options: Any,
) -> Dedup:
    """Says which rows of a table remain without near-duplicates: those that ``simdb dedup`` keeps.

    Args:
        table: an object with the Arrow C stream interface, a list of dictionaries, or a dictionary
            of columns. Its strings are read where they are, and must not change meanwhile.
        text: the column with the text ("text"), or several, which are joined as lines.
        id: the column with ids, for the audit ("id"; the number of the row, if there is none).
        jaccard: the least share of common shingles, above 0 and up to 1; computed from the texts.
            0.8 without another criterion.
        near: the most bits in which fingerprints differ, 0 to 64; of the texts, or of the column
            ``fingerprint`` (64-bit numbers).
        verify: with near, the least share of common shingles, too.
        levenshtein, cosine: the least similarity of short texts, above 0 and up to 1.
        within: the least share of the shingles of a row that a larger row, which stays, has.
        keep: which row of a cluster stays: "first", "last", "longest", "shortest", "max:COLUMN",
            "min:COLUMN", or a list, of which each decides between those that are equal so far.
        against: a table, the path of a file or of a database, or a list of these: what is like one
            of its documents is dropped, too.
        level: "paragraph", "line" or "passage": what has come before is cut out of the texts, and
            rows with nothing left are dropped. The audit then has the rows that have changed.
        memory: such as "512MiB", or bytes: the memory of the run beside the table. What has no room goes to
            temporary files.
        options: any other flag of ``simdb dedup`` that is about what is read and compared, such as
            min_words=5, shingle="chars:5" or stop_words="words.txt".

    Returns:
        (mask, audit). The mask has a boolean for each row: True stays. The audit has a row for each
        that does not: row and keeper_row (from 0), id, keeper, keeper_file (null: this table),
        distance (bits), score (0 to 1), exact, rule and cluster (from 1, the largest first). With
        level it has a row for each text that has lost something: row, id, and text, which is what
        is left of it, null if nothing is.
    """
    tables = [("<table>", table)]
    several = isinstance(against, (list, tuple)) and not all(map(_library.is_row, against))
    sources = [] if against is None else against if several else [against]
    names = []
    for i, source in enumerate(sources):
        if isinstance(source, (str, os.PathLike)):
            names.append(_library.path_of(source))
        else:
            names.append("<against>" if i == 0 else f"<against {i + 1}>")
            tables.append((names[-1], source))
    keywords = {
        **_read(text, id), "jaccard": jaccard, "near": near, "verify": verify, "levenshtein": levenshtein, "cosine": cosine,
        "within": within, "keep": keep, "against": names, "level": level, "memory": memory, **options,
    }
    reply = _call({"op": "dedup", "keywords": keywords}, tables)
    return Dedup(Table(reply.mask)["keep"], Table(reply.table))


def tune(table: Any, text: Union[str, List[str], None] = None, *, id: Optional[str] = None, **options: Any) -> Table:
    """Says what each criterion would find in a table: the rows of ``simdb tune``.

    Args:
        table, text, id: as in :func:`dedup`.
        options: sample=1000 (rows that near-duplicates are looked for of), seed=1, texts=True
            (examples are texts, not ids), and flags about what is compared.

    Returns:
        A Table of the columns criterion ("--near 3"), share (of the rows that have a near-duplicate),
        pairs, chance (pairs of unrelated rows), a and b (a pair that just meets it), share_error and
        pairs_error.
    """
    return Table(_call({"op": "tune", "keywords": {**_read(text, id), **options}}, [("<table>", table)]).table)


def fingerprints(table: Any, text: Union[str, List[str], None] = None, **options: Any) -> Column:
    """Computes 64-bit fingerprints of the texts of a table.

    Args:
        table, text: as in :func:`dedup`.
        options: flags about what is compared, such as shingle="chars:5".

    Returns:
        A Column of n uint64, null for a text without words; ``numpy.asarray`` takes it if none is.
    """
    request = {"op": "fingerprints", "keywords": {**_read(text, None), **options}}
    return Table(_call(request, [("<table>", table)]).table)["fingerprint"]


def open(
    path: Union[str, "os.PathLike[str]"],
    *,
    readonly: bool = False,
    must_exist: bool = False,
    busy_timeout: float = 5.0,
    **options: Any,
) -> Database:
    """Opens a database, and creates it if there is none.

    Args:
        path: a folder, whose parent must exist; or a table file (.sst), which is read-only.
        readonly: any number of processes can read, also while one writes.
        must_exist: do not create it.
        busy_timeout: seconds to wait while another process has it open for writing.
        options: of a new database, as flags of ``simdb load``: ttl="48h", shingle="chars:5",
            containment=True, no_text=True, bits=256, ...

    Raises:
        LockedError, NotFoundError, ParamsError, NotDatabaseError, CorruptionError
    """
    return Database(path, keywords=options, busy_timeout=busy_timeout, readonly=readonly, must_exist=must_exist)


def version() -> str:
    """Returns the version of simdb."""
    return _library.version()
