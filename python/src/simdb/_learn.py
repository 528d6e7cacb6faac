"""Rules that labels choose, and questions about pairs."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from ._database import next_number
from ._library import call, usable
from ._sources import path_of

Label = Tuple[str, str, bool]  # two ids, and whether the documents are the same


class Lesson(NamedTuple):
    """What labels teach: see :func:`simdb.learn`."""

    rule: str  # for rule= of dedup, and for simdb dedup --rule
    labels: int
    right: int  # labels that agree with the rule that the other labels choose: a cross-validation
    low: float  # bounds of this agreement as a share, for 19 of 20 samples of labels
    high: float
    pairs: float  # about how many pairs of different texts match
    drops: List[Dict[str, Any]]  # pairs that the rule just matches: a, b, score, lacks, adds
    spares: List[Dict[str, Any]]  # pairs that it just does not match
    wrong: List[Dict[str, Any]]  # labels that it does not agree with


class Pair(NamedTuple):
    """Two documents to decide about."""

    a: str
    b: str
    score: float  # the share of common shingles
    lines: List[str]  # short texts, and differences: [-only a-], {+only b+}


def labels_of(labels: Any) -> List[Label]:
    """Returns labels that are dictionaries with a, b and same, tuples of the three, or in a file."""
    all: List[Label] = []
    if isinstance(labels, (str, os.PathLike)):
        labels = call({"op": "labels", "path": path_of(labels)}).values["labels"] or []
    for label in labels:
        a, b, same = (label[k] for k in ("a", "b", "same")) if isinstance(label, dict) else label
        if same not in (True, False):
            raise TypeError(f"whether two documents are the same is a bool, not {same!r}")
        all.append((str(a), str(b), bool(same)))
    return all


def _rows(labels: Iterable[Label]) -> List[Dict[str, Any]]:
    return [{"a": a, "b": b, "same": same} for a, b, same in labels]


def lesson_of(request: Dict[str, Any], labels: List[Label], tables: Any = ()) -> Lesson:
    """Returns what labels teach about documents."""
    values = call({**request, "op": "learn", "labels": _rows(labels)}, tables).values
    return Lesson(**{k: [] if v is None else v for k, v in values.items()})


class Interview:
    """Questions about pairs of documents: see :func:`simdb.learn`.

    Each answer chooses the next pair, the one about which the possible rules disagree most.

    Attributes:
        pair: the pair that is asked about; None at the end.
        asked: how many pairs of this interview are answered or skipped.
        ask: after how many of these it ends.
    """

    def __init__(self, request: Dict[str, Any], tables: Any, labels: List[Label], ask: int) -> None:
        self._number = 0
        self._answers: List[Tuple[Pair, Optional[bool]]] = []
        self._given = list(labels)
        self.ask = ask
        self.pair: Optional[Pair] = None
        number = next_number()
        try:
            call({**request, "op": "questions", "db": number, "labels": _rows(labels)}, tables)
            self._number = number
            self._next()
        except BaseException:
            call({"op": "close", "db": number}, now=True)
            raise

    def __del__(self) -> None:
        if self._number and usable():
            call({"op": "close", "db": self._number}, now=True)

    def __reduce__(self) -> Any:  # a copy would close the documents of both
        raise TypeError("an Interview cannot be copied or pickled: learn(table, interview.labels, ask=30) goes on with its labels")

    @property
    def asked(self) -> int:
        return len(self._answers)

    @property
    def labels(self) -> List[Label]:
        """The labels: those given to learn, and the answers. ``learn(table, interview.labels, ask=30)`` goes on with them."""
        return self._given + [(p.a, p.b, same) for p, same in self._answers if same is not None]

    @property
    def lesson(self) -> Lesson:
        """What the labels teach so far."""
        return lesson_of({"db": self._number}, self.labels)

    @property
    def rule(self) -> str:
        """The rule that the labels choose so far, for ``simdb.dedup(table, rule=interview.rule)``."""
        return self.lesson.rule

    def answer(self, same: Optional[bool]) -> None:
        """Says whether the two documents are the same, or with None skips the pair."""
        if self.pair is None:
            raise ValueError("there is no question to answer")
        self._answers.append((self.pair, same))
        self._next()

    def back(self) -> None:
        """Takes the last answer back, and asks again."""
        if self._answers:
            self.pair = self._answers.pop()[0]

    def end(self) -> None:
        """Asks no more."""
        self.pair = None

    def _next(self) -> None:
        self.pair = None
        if self.asked < self.ask:
            skipped = _rows((p.a, p.b, False) for p, same in self._answers if same is None)
            pair = call({"op": "ask", "db": self._number, "labels": _rows(self.labels), "skipped": skipped}).values["pair"]
            self.pair = pair and Pair(**pair)

    def __repr__(self) -> str:
        state = "at its end" if self.pair is None else f"question {self.asked + 1} of {self.ask}"
        return f"<simdb.Interview {state}, {len(self.labels)} labels>"
