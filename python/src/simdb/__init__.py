"""simdb: near-duplicates of texts, and of hashes of pictures.

    mask, audit = simdb.dedup(table, text="text", jaccard=0.8)
    db = simdb.open("corpus.simdb")
    db.add(table)
    db.near(0x9F3C5A0011223344, 3)

A table is anything with rows: of pyarrow, polars (lazy too), pandas, DuckDB, datasets and numpy, another object with
an Arrow stream or array, the path of a file or a folder or a pattern of paths, a list or a generator of texts or of
dictionaries, or a dictionary of columns. The functions release the interpreter lock; Ctrl-C ends them.
"""

from __future__ import annotations

import os
from html import escape as _escape
from typing import TYPE_CHECKING, Any, Iterable, List, NamedTuple, Optional, Union, overload

from . import _library
from ._database import Database, Match, Text, _read
from ._errors import (
    CancelledError,
    ClosedError,
    CorruptionError,
    ExistsError,
    FailedError,
    InvalidError,
    KeywordError,
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
from ._learn import Interview, Lesson, Pair, labels_of as _labels_of, lesson_of as _lesson_of
from ._library import call as _call
from ._notebook import hold as _hold
from ._pictures import picture_hashes
from ._sources import is_stored as _is_stored, path_of as _path_of
from ._table import Column, Mask, Table

__all__ = [
    "CancelledError", "ClosedError", "Column", "CorruptionError", "Database", "Dedup", "ExistsError", "FailedError",
    "Interview", "InvalidError", "KeywordError", "Lesson", "LockedError", "Mask", "Match", "NoSketchesError", "NotDatabaseError", "NotFoundError",
    "Pair", "ParamsError", "ParseError", "ReadOnlyError", "SimdbError", "Table", "Text", "TooLargeError", "decontaminate", "dedup",
    "fingerprints", "get_include", "learn", "open", "picture_hashes", "tune", "version",
]

__version__: str
if not TYPE_CHECKING:  # otherwise every name would be one of the package

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            return version()
        raise AttributeError(f"module 'simdb' has no attribute {name!r}")


class Dedup(NamedTuple):
    """The result of a dedup: see :func:`dedup`."""

    mask: Mask
    audit: Table

    @property
    def kept(self) -> List[int]:
        """The numbers of the kept rows."""
        return self.mask.rows

    @property
    def dropped(self) -> List[int]:
        """The numbers of the dropped rows."""
        return (~self.mask).rows

    def __repr__(self) -> str:
        return "\n".join([repr(self.audit), repr(self.mask), *self.audit.warnings])

    def _repr_html_(self) -> str:
        """Returns the first rows of the audit for a notebook."""
        said = "".join(f"<p>{_escape(w)}</p>" for w in self.audit.warnings)
        return f"<p>{sum(self.mask)} of {len(self.mask)} rows kept</p>{self.audit._repr_html_()}{said}"


def dedup(
    table: Any,
    text: Union[str, List[str], None] = None,
    *,
    id: Optional[str] = None,
    jaccard: Optional[float] = None,
    near: Optional[int] = None,
    images: Optional[str] = None,
    verify: Optional[float] = None,
    levenshtein: Optional[float] = None,
    cosine: Optional[float] = None,
    within: Optional[float] = None,
    keep: Union[str, List[str], None] = None,
    against: Any = None,
    against_text: Union[str, List[str], None] = None,
    only_against: bool = False,
    level: Optional[str] = None,
    memory: Union[str, int, None] = None,
    **options: Any,
) -> Dedup:
    """Returns which rows of a table ``simdb dedup`` keeps, without their near-duplicates.

    Args:
        table: anything with rows: a table, a column or a lazy query of another package, the path of a file or of a
            folder, a pattern of paths, a list or a generator of texts or of dictionaries, a dictionary of columns. A
            list of paths is one table, too. Streams, generators and files need no memory for their rows; strings of a
            table in memory are not copied, and must not change meanwhile.
        text: the column with the text ("text"), or several, which are joined as lines.
        id: the column with ids, for the audit ("id"; the number of the row, if there is none).
        jaccard: the minimum share of common shingles, above 0 and up to 1; computed from the texts.
            0.8 without another criterion.
        near: the maximum distance of fingerprints in bits, 0 to 64; of the texts, or of the column
            ``fingerprint`` (64-bit numbers).
        images: the rows are pictures, as :func:`picture_hashes` accepts them, which are compared by their hashes of
            this kind ("pdq"); near is 31 for these unless it is given. A picture without a hash is kept.
        verify: with near, also the minimum share of common shingles.
        levenshtein, cosine: the minimum similarity of short texts, above 0 and up to 1.
        within: the minimum share of a dropped row's shingles in a larger, kept row.
        keep: which row of a cluster stays: "first", "last", "longest", "shortest", "max:COLUMN",
            "min:COLUMN", or a list; each rule decides between rows that tie so far.
        against: a table, the path of a file or of a database, or a list of these: rows that resemble one of
            its documents are also dropped.
        against_text: the text of against, if it has another name than ``text``; likewise against_id.
        only_against: drop nothing but these rows: duplicates within the table stay.
        level: "paragraph", "line" or "passage": removes text that occurred before, and drops rows with
            nothing left. The audit then has the changed rows.
        memory: such as "512MiB", or bytes: the memory for the run besides the table. Larger data goes to
            temporary files.
        options: any other flag of ``simdb dedup`` about reading and comparing, such as
            min_words=5, shingle="chars:5" or stop_words="words.txt".

    Returns:
        (mask, audit). ``audit.warnings`` names rows without a usable text or fingerprint (``<table>:1`` is the first), and
        options without effect. The mask has a boolean for each row: True if it is kept; ``kept`` and ``dropped`` of the result
        are row numbers. The audit has a row for each
        dropped one: row and keeper_row (from 0), id, keeper, keeper_file (null: this table),
        distance (bits), score (0 to 1), exact, rule and cluster (from 1, the largest first). With level it
        has a row for each changed text: row, id, and the rest of the text, null if nothing is left.
    """
    if against is None:
        sources = []
    elif isinstance(against, (list, tuple)) and images is None and not (against and all(isinstance(a, dict) for a in against)):
        sources = list(against)
    else:
        sources = [against]
    if images is not None:
        table = picture_hashes(table, images)
        sources = [a if _is_stored(a) else picture_hashes(a, images) for a in sources]
        near = table.near if near is None else near
    tables, names = [("<table>", table)], []
    for i, source in enumerate(sources):
        if isinstance(source, (str, os.PathLike)) and (_is_stored(source) or os.path.isfile(source)):
            names.append(_path_of(source))
        else:
            names.append("<against>" if i == 0 else f"<against {i + 1}>")
            tables.append((names[-1], source))
    keywords = {
        **_read(text, id), "jaccard": jaccard, "near": near, "verify": verify, "levenshtein": levenshtein, "cosine": cosine,
        "within": within, "keep": keep, "against": names, "against_text": _read(against_text, None)["text"],
        "only_against": only_against, "level": level, "memory": memory, **options,
    }
    reply = _call({"op": "dedup", "keywords": keywords}, tables)
    return Dedup(Mask(Table(reply.mask)["keep"]), Table(reply.table, warnings=reply.values["warnings"] or ()))


def decontaminate(
    train: Any,
    benchmark: Any,
    text: Union[str, List[str], None] = None,
    against_text: Union[str, List[str], None] = None,
    **options: Any,
) -> Dedup:
    """Returns which rows of a table resemble none of a benchmark; duplicates within the table stay.

    Args:
        train, benchmark: table and against of :func:`dedup`.
        text, against_text: the columns with their texts.
        options: of :func:`dedup`, such as jaccard=0.5, within=0.8, or level="passage", min_words=13.
    """
    return dedup(train, text, against=benchmark, against_text=against_text, only_against=True, **options)


def tune(table: Any, text: Union[str, List[str], None] = None, *, id: Optional[str] = None, **options: Any) -> Table:
    """Returns what each criterion would find in a table: the rows of ``simdb tune``.

    Args:
        table, text, id: as in :func:`dedup`.
        options: sample=1000 (number of rows to sample), seed=1, texts=True (examples are texts, not ids), and
            flags about what is compared.

    Returns:
        A Table of the columns criterion ("near=3"), share (of the rows that have a near-duplicate),
        removes (the share that dedup would drop), pairs, chance (pairs of unrelated rows), a and b (a pair that just meets it), share_error and
        pairs_error.
    """
    return Table(_call({"op": "tune", "keywords": {**_read(text, id), **options}}, [("<table>", table)]).table)


@overload
def learn(
    table: Any, labels: Union[Iterable[Any], "os.PathLike[str]"], text: Union[str, List[str], None] = None, *, id: Optional[str] = None, ask: None = None, **options: Any
) -> Lesson: ...


@overload
def learn(
    table: Any, labels: None = None, text: Union[str, List[str], None] = None, *, id: Optional[str] = None, ask: Optional[int] = None, **options: Any
) -> Interview: ...


@overload
def learn(
    table: Any, labels: Union[Iterable[Any], "os.PathLike[str]"], text: Union[str, List[str], None] = None, *, id: Optional[str] = None, ask: int, **options: Any
) -> Interview: ...


def learn(
    table: Any,
    labels: Union[Iterable[Any], "os.PathLike[str]", None] = None,
    text: Union[str, List[str], None] = None,
    *,
    id: Optional[str] = None,
    ask: Optional[int] = None,
    **options: Any,
) -> Union[Lesson, Interview]:
    """Learns from labels which rule decides what near-duplicates are, as ``simdb learn`` does.

    Without labels it asks about pairs of rows: in a notebook with buttons, if there is the package ipywidgets, and
    elsewhere through ``input``, where Ctrl-C ends the questions, as q does: the answers so far are returned.
    Press Same if nothing would be lost without one of the two rows.

    Args:
        table, text, id: as in :func:`dedup`. Without ids, labels name rows by their numbers, from 0.
        labels: dictionaries with a, b and same, or tuples of the three: two ids, and whether the documents are the
            same; or the path of a file of labels or decisions, as ``simdb learn`` and ``simdb review`` write it. From 20
            labels on, the rule is usually better than any threshold.
        ask: the number of pairs to ask about. The default is 30 without labels, otherwise 0.
        options: sample=50000 (rows that are compared), seed=1, memory="1GiB", and flags about what is compared.

    Returns:
        A Lesson: ``simdb.dedup(table, rule=lesson.rule)``. If there are questions, an Interview, whose ``rule``,
        ``lesson`` and ``labels`` are those of the answers so far.
    """
    given = _labels_of(labels or [])
    request = {"keywords": {**_read(text, id), **options}}
    if ask is None:
        ask = 30 if labels is None else 0
    if ask == 0:
        return _lesson_of(request, given, [("<table>", table)])
    interview = Interview(request, [("<table>", table)], given, ask)
    _hold(interview)
    return interview


def fingerprints(table: Any, text: Union[str, List[str], None] = None, **options: Any) -> Column:
    """Computes 64-bit fingerprints of the texts of a table.

    Args:
        table, text: as in :func:`dedup`.
        options: flags about what is compared, such as shingle="chars:5".

    Returns:
        A Column of n uint64, null for a text without words; ``numpy.asarray`` accepts it if there are no nulls.
    """
    request = {"op": "fingerprints", "keywords": {**_read(text, None), **options}}
    return Table(_call(request, [("<table>", table)]).table)["fingerprint"]


def open(
    path: Union[str, "os.PathLike[str]"],
    *,
    readonly: bool = False,
    must_exist: bool = False,
    busy_timeout: float = 5.0,
    cache: Union[str, int, None] = None,
    **options: Any,
) -> Database:
    """Opens a database, and creates it if there is none.

    Args:
        path: a folder, whose parent must exist; or a table file (.sst), also a URL, which is read-only.
        readonly: any number of processes can read, even while one writes.
        must_exist: do not create it.
        busy_timeout: seconds to wait while another process has it open for writing.
        cache: such as "256MiB", or bytes: the memory for decompressed texts and fields that may be read again;
            0 for none. The default is a 64th of the machine's memory, from 8 MiB to 256 MiB.
        options: parameters of a new database, as flags of ``simdb load``: ttl="48h", shingle="chars:5",
            containment=True, no_text=True, bits=256, ... ttl, or "never", also changes a database that exists.

    Raises:
        LockedError, NotFoundError, ParamsError, NotDatabaseError, CorruptionError
    """
    options["cache"] = cache
    return Database(path, keywords=options, busy_timeout=busy_timeout, readonly=readonly, must_exist=must_exist)


def version() -> str:
    """Returns the version of simdb."""
    return _library.version()


def get_include() -> str:
    """Returns the folder of ``simdb.h``, the header for C, and of the shared library."""
    return os.path.dirname(os.path.abspath(__file__))
