"""An open database."""

from __future__ import annotations

import array
import itertools
import operator
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union, overload

from . import _library
from ._library import call
from ._sources import is_image_hash, is_null, is_row, narrowed, path_of, values_of, words_of
from ._table import Table

_MASK = (1 << 64) - 1


class Match(NamedTuple):
    """A stored document that matches.

    ``distance`` is in bits, only for ``near``; ``score`` is a similarity from 0 to 1 by any other criterion,
    ``error`` its standard error, and ``exact`` means that it was computed from the texts, or that the
    sketches are the whole sets.
    """

    id: str
    distance: Optional[int] = None
    score: Optional[float] = None
    error: Optional[float] = None
    exact: Optional[bool] = None


class Text(str):
    """A parameter of a statement that is a text, as in ``JACCARD(?, 0.8)``; other strings are ids."""


def _string(value: Any, kind: str = "an id") -> str:
    """Returns an id or a text; whole numbers become their digits."""
    if isinstance(value, str):
        return str(value)
    if hasattr(value, "__index__"):
        return str(operator.index(value))
    raise TypeError(f"{kind} is a string or a whole number, not {value!r}")


def _is_listed(value: Any) -> bool:
    """Reports whether a value is a list or an array, rather than one fingerprint."""
    if isinstance(value, (str, bytes, bytearray, memoryview)) or is_image_hash(value):
        return False
    return hasattr(value, "__iter__") and getattr(value, "shape", (1,)) != ()


def _words(values: Any, bits: int) -> Tuple[Any, int, bool]:
    """Returns fingerprints of so many bits as a buffer of words, the words of each, and whether it is one."""
    width, words = bits // 64, array.array("Q")
    if not _is_listed(values):
        return _one(values, bits), width, True
    if getattr(values, "shape", None) is not None:
        import numpy

        values = numpy.asarray(values)  # also a column of pandas or polars
        if values.ndim == 2 or width > 1 and values.shape == (bits,):  # otherwise they are numbers, each a fingerprint
            values = narrowed(values)
        if values.dtype.kind in "biu" and values.dtype.itemsize == 1:
            one = values.ndim == 1 or values.size == bits != values.shape[-1]  # the hash array of imagehash is square
            for row in [values] if one else values:
                words += _one(row, bits)
            return words, width, one
        if values.ndim > 2:
            raise ValueError(f"fingerprints have the shape (n,) or (n, words), not {values.shape}")
        if values.dtype.kind not in "iu" or values.dtype.itemsize != 8:
            raise TypeError(f"fingerprints are numbers of 64 bits, uint64 or int64, not {values.dtype}")
        columns = values.shape[1] if values.ndim == 2 else 1
        one = values.ndim == 1 and len(values) == width > 1
        if not one and columns != width:
            raise ValueError(f"a fingerprint of this database has {width} words of 64 bits, not {columns}")
        return array.array("Q", values.astype(values.dtype.newbyteorder("=")).tobytes()), width, one
    values = values_of(values)
    if width > 1 and len(values) == width and all(isinstance(v, int) and v < 1 << 64 for v in values):
        return words_of(values), width, True  # the words that get returns
    if width == 1 and all(hasattr(v, "__index__") for v in values):
        return words_of(values), 1, False
    for v in values:
        words += _one(v, bits)
    return words, width, False


def _one(value: Any, bits: int) -> Any:
    """Returns the words of one fingerprint: a number, digits in hexadecimal, bytes, bits, or words."""
    digits = bits // 4
    wrong = f"a fingerprint is a whole number of {bits} bits, {bits // 8} bytes, or {digits} hexadecimal digits"
    if isinstance(value, str):
        text = value[2:] if value[:2] in ("0x", "0X") else value
        if len(text) != digits or set(text) - set("0123456789abcdefABCDEF"):
            raise ValueError(f"{wrong}, not {value!r}")
        value = int(text, 16)
    if hasattr(value, "__index__") and getattr(value, "shape", ()) == ():
        number = operator.index(value)
        if not -(1 << bits - 1) <= number < 1 << bits:
            raise ValueError(f"{wrong}, not {value!r}")
        value = (number & (1 << bits) - 1).to_bytes(bits // 8, "big")
    elif not isinstance(value, (bytes, bytearray, memoryview, list, tuple)) and not hasattr(value, "shape") and not is_image_hash(value):
        raise TypeError(f"{wrong}, not {value!r}")
    words = words_of(value)
    if 64 * len(words) != bits:
        raise ValueError(f"a fingerprint of this database has {bits} bits, not {64 * len(words)}")
    return words


_opened = itertools.count(1)


def next_number() -> int:
    """Returns a number by which the library knows a database, or what else is open."""
    return next(_opened)


class Database:
    """A database of documents: see :func:`simdb.open`.

    Any number of threads may use it. Close it, or use it in a ``with`` block; writes are durable when a
    method returns. Other processes open the path themselves.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], **request: Any) -> None:
        self._number = self._bits = 0
        self.path = path_of(path)
        self._number = next_number()
        try:
            call({"op": "open", "db": self._number, "path": self.path, **request})
        except BaseException:  # a Ctrl-C too, which may come after it was opened
            self.close()
            raise

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if self._number and _library.usable():
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a Database cannot be copied or pickled: open the path in the other process, with readonly=True")

    def __repr__(self) -> str:
        return f"<simdb.Database {self.path!r}>"

    def close(self) -> None:
        """Closes the database. A second close does nothing; any other use is a ClosedError."""
        number, self._number = self._number, 0
        if number:
            call({"op": "close", "db": number})

    def _call(self, op: str, tables: Sequence[Tuple[str, Any]] = (), numbers: Any = None, now: bool = False, **request: Any) -> _library.Reply:
        return call({"op": op, "db": self._number, **request}, tables, numbers, now)

    @property
    def bits(self) -> int:
        """The length of the fingerprints."""
        self._bits = self._bits or int(self.stats()["bits"])
        return self._bits

    # Searches

    def _search(self, criterion: Dict[str, Any], one: bool, numbers: Any = None, **what: Any) -> Union[List[Match], Table]:
        found = Table(self._call("search", numbers=numbers, now=one and "near" in criterion, by=criterion, **what).table)
        if not one:
            return found
        rows = zip(*(found[name] for name in found.column_names[1:]))
        if "near" in criterion:
            return [Match(id, distance) for id, distance in rows]
        return [Match(id, None, score, error, exact) for id, score, error, exact in rows]

    def _similar(self, criterion: Dict[str, Any], text: Any, id: Any) -> Union[List[Match], Table]:
        if (text is None) == (id is None):
            raise TypeError("give a text, or the id of a stored document")
        what = id if text is None else text
        one = isinstance(what, (str, bytes, int)) or getattr(what, "shape", None) == ()
        values = [what] if one else values_of(what)
        if text is None:
            return self._search(criterion, one, ids=[_string(v) for v in values])
        return self._search(criterion, one, texts=["" if is_null(v) else _string(v, "a text") for v in values])

    @overload
    def near(self, fingerprint: Union[int, str, bytes], k: int = 3) -> List[Match]: ...

    @overload
    def near(self, fingerprint: Any = None, k: int = 3, *, text: Any = None, id: Any = None) -> Any: ...

    def near(self, fingerprint: Any = None, k: int = 3, *, text: Any = None, id: Any = None) -> Union[List[Match], Table]:
        """Finds the documents whose fingerprints differ in at most ``k`` bits.

        Args:
            fingerprint: one gives a list of Match, nearest first. It is a whole number, bytes, hexadecimal digits,
                the words of 64 bits that ``get`` returns, the most significant first, an ImageHash of the package
                imagehash, or an array of bits, as of pdqhash. Several are a sequence of these, or a numpy array of
                uint64 or int64 of the shape (n,), or (n, words) for more than 64 bits: they give a Table with the
                columns query (the place in the sequence, from 0), id and distance (bits). Many at once are much
                faster.
            k: bits, from 0 to the length of a fingerprint.
            text: a text, or a sequence of texts, instead of fingerprints.
            id: the id of a stored document, or a sequence of ids, instead of fingerprints. A document does
                not find itself.
        """
        k = operator.index(k)
        if fingerprint is None:
            return self._similar({"near": k}, text, id)
        if text is not None or id is not None:
            raise TypeError("give one of a fingerprint, a text, or the id of a stored document")
        numbers, width, one = _words(fingerprint, self.bits)
        return self._search({"near": k}, one, numbers, width=width)

    @overload
    def jaccard(self, text: str, threshold: float = 0.8, *, estimate: bool = False) -> List[Match]: ...

    @overload
    def jaccard(self, text: Any = None, threshold: float = 0.8, *, id: Any = None, estimate: bool = False) -> Any: ...

    def jaccard(self, text: Any = None, threshold: float = 0.8, *, id: Any = None, estimate: bool = False) -> Union[List[Match], Table]:
        """Finds the documents that share at least the part ``threshold`` of their shingles with a text.

        Args:
            text: a text: gives a list of Match, the most similar first. Or a sequence of n texts:
                gives a Table with the columns query (0 to n-1), id, score, error and exact.
            threshold: above 0, up to 1.
            id: the id of a stored document, or a sequence of ids, instead of texts.
            estimate: estimate similarities from sketches, with the standard error ``error``. Otherwise
                they are computed from the texts, if the database stores them.
        """
        return self._similar({"jaccard": threshold, "estimate": estimate}, text, id)

    @overload
    def similar(self, text: str, **criterion: float) -> List[Match]: ...

    @overload
    def similar(self, text: Any = None, *, id: Any = None, **criterion: float) -> Any: ...

    def similar(self, text: Any = None, *, id: Any = None, **criterion: float) -> Union[List[Match], Table]:
        """Finds documents by ``levenshtein=``, ``cosine=``, ``contains=`` or ``within=``, a share above 0 and
        up to 1. Other arguments and the result are as in jaccard."""
        return self._similar(criterion, text, id)

    def join(self, table: Any, *, text: Any = None, id: Optional[str] = None, **options: Any) -> Table:
        """Finds the stored documents that each document of a table resembles.

        Args:
            table: as in :func:`simdb.dedup`.
            text: the column with the text ("text"), or a list of columns.
            id: the column with the ids ("id"); by default the row numbers.
            options: a criterion: near=bits, jaccard=, levenshtein=, cosine=, contains= or within=
                a share. ``estimate=True``: with jaccard, estimate from sketches; by default similarities are
                computed from the texts, if the database stores them.

        Returns:
            A Table of the columns row (from 0), query (the id), id (of the stored document), and
            distance, or score, error and exact: by row, the best match first.
        """
        return Table(self._call("join", [("<table>", table)], by=_criterion(options), keywords={**_read(text, id), **options}).table)

    def query(self, statement: str, params: Any = ()) -> Table:
        """Runs a statement of the query language, or a command that administers the database.

        Args:
            statement: such as ``NEAR(?, 3) AND lang = 'en' LIMIT 10``; or ``.stats``, ``.schema``,
                ``.fields``, ``.check``, ``.allowed``, ``.allow``, ``.unallow`` (two ids as params),
                ``.prune`` (an age such as 30d, or a date), ``.flush``, ``.compact``.
            params: the values of each ``?``, or a dictionary with the values of each ``$name``. A str is an
                id, a Text a text; a numpy.uint64, or an int of 2^63 or more, a fingerprint; a dict a
                document; a datetime without a zone is local time, a numpy.datetime64 is UTC.

        Returns:
            A Table with the columns of the statement, or without columns if it writes; its attribute message
            describes the write.
        """
        request: Dict[str, Any] = {"statement": statement}
        if not isinstance(statement, str):
            raise TypeError(f"a statement is a string, not {statement!r}")
        if isinstance(params, (str, bytes)):
            raise TypeError("the parameters of a statement must be a list or a dictionary")
        if isinstance(params, dict):
            request["named"] = {name: _param(v) for name, v in params.items()}
        else:
            request["params"] = [_param(v) for v in params]
        reply = self._call("query", **request)
        values = reply.values
        return Table(reply.table or _library.empty_table(), values["message"], values["warnings"] or ())

    # Documents

    def add(self, table: Any, *, text: Any = None, id: Optional[str] = None, **options: Any) -> int:
        """Stores the documents of a table; each replaces the stored document with its id.

        Args:
            table: as in :func:`simdb.dedup`, or a dictionary with "id", "text" and fields, which
                is one document. The column of ids has strings or whole numbers. A column ``fingerprint``
                (64-bit numbers) replaces the one computed from the text; other columns become fields.
            text, id: as in join.

        Returns:
            The number of documents.
        """
        return int(self._call("add", [("<table>", table)], keywords={**_read(text, id), **options}).values["documents"])

    def put_novel(
        self, what: Any, *, text: Any = None, id: Optional[str] = None, renew: bool = False, **options: Any
    ) -> Any:
        """Stores the documents that resemble no stored one. Check and write are one step.

        Args:
            what: a dictionary with "id", "text" and fields: gives None if it was stored, or the Match that it
                resembles. Or a table: gives a Table with the columns row, stored (bool), and for rows not
                stored id, and distance or score, error, exact.
            text, id: as in join.
            renew: a document that is resembled counts as stored now, so that it expires ttl after it was last seen.
            options: a criterion, as in join.
        """
        one = is_row(what)
        by = _criterion(options)
        found = Table(self._call("put_novel", [("<table>", what)], by=by, renew=renew, keywords={**_read(text, id), **options}).table)
        if not one:
            return found
        row = found.to_pylist()[0]
        if row["stored"]:
            return None
        return Match(row["id"], row.get("distance"), row.get("score"), row.get("error"), row.get("exact"))

    def get(self, id: str) -> Optional[Dict[str, Any]]:
        """Returns a document, or None if it is not stored: id, text, fields, fingerprint (a list of
        words of 64 bits, or None), time (RFC 3339) and, if it expires by itself, expires."""
        document: Optional[Dict[str, Any]] = self._call("get", ids=[_string(id)]).values["documents"][0]
        return document

    def delete(self, *ids: str) -> int:
        """Deletes documents in one write, and returns how many were stored."""
        return int(self._call("delete", ids=[_string(i) for i in ids]).values["deleted"])

    def __len__(self) -> int:
        return int(self.stats()["documents"])

    def __contains__(self, id: str) -> bool:
        return self.get(id) is not None

    def stats(self) -> Dict[str, Any]:
        """Describes the database: documents, disk_bytes, path, bits (of a fingerprint)."""
        return dict(self._call("stats").values)

    def compact(self) -> None:
        """Merges all tables into one, and drops deleted and expired documents."""
        self._call("compact")

    def refresh(self) -> None:
        """Makes later writes of other processes visible in a database opened read-only."""
        self._call("refresh")


_CRITERIA = ("near", "jaccard", "levenshtein", "cosine", "contains", "within", "estimate")


def _criterion(options: Dict[str, Any]) -> Dict[str, Any]:
    """Takes the criterion out of options."""
    return {name: options.pop(name) for name in _CRITERIA if options.get(name) is not None}


def _read(text: Any, id: Optional[str]) -> Dict[str, Any]:
    """Returns the keywords that name columns."""
    return {"text": text if text is None or isinstance(text, str) else list(text), "id": id}


def _param(v: Any) -> Dict[str, Any]:
    import datetime

    if is_null(v) and not isinstance(v, float):
        raise TypeError(f"{v!r} cannot be a parameter of a statement: IS NULL finds missing values")
    if hasattr(v, "dtype") and getattr(v, "shape", None) == ():
        if v.dtype == "uint64":
            return {"kind": "fingerprint", "value": int(v)}
        if v.dtype.kind == "M":
            v = v.astype("datetime64[us]").item().replace(tzinfo=datetime.timezone.utc)
        else:
            v = v.item()
    if isinstance(v, bool):
        return {"kind": "bool", "value": v}
    if isinstance(v, Text):
        return {"kind": "text", "value": str(v)}
    if isinstance(v, str):
        return {"kind": "string", "value": v}
    if isinstance(v, int):
        if not -(1 << 63) <= v <= _MASK:
            raise ValueError(f"{v} has more than 64 bits")
        return {"kind": "fingerprint" if v >= 1 << 63 else "integer", "value": v}
    if isinstance(v, float):
        return {"kind": "float", "value": v}
    if isinstance(v, datetime.datetime):
        return {"kind": "time", "value": v.astimezone(datetime.timezone.utc).isoformat()}
    if isinstance(v, (dict, list)):
        return {"kind": "json", "value": v}
    raise TypeError(f"{type(v).__name__} cannot be a parameter of a statement")
