"""Questions of an interview: buttons in a notebook, lines of text elsewhere."""

from __future__ import annotations

import builtins
import html
import re
from importlib import import_module
from typing import Any, Callable, List, Tuple

from ._learn import Interview

_ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "s": None, "skip": None}

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]")  # of a terminal, and directions


def hold(interview: Interview) -> None:
    """Asks the questions: with buttons, and returns at once, or through ``input``, and returns when all are answered."""
    shell = getattr(builtins, "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:  # of Jupyter, not of a terminal
        try:
            widgets: Any = import_module("ipywidgets")
        except ImportError:
            print("pip install ipywidgets shows buttons instead of this prompt")
        else:
            import_module("IPython.display").display(buttons(interview, widgets))
            return
    _prompt(interview)


def buttons(interview: Interview, widgets: Any) -> Any:
    """Returns a widget that shows the pair of an interview above a button for each answer."""
    text = widgets.HTML()
    all: List[Tuple[Any, bool]] = []  # buttons, and whether they need a pair

    def button(label: str, style: str, act: Callable[[], None], needs_pair: bool = True) -> None:
        def pressed(_: Any) -> None:
            act()
            show()

        b = widgets.Button(description=label, button_style=style)
        b.on_click(pressed)
        all.append((b, needs_pair))

    def show() -> None:
        text.value = _page(interview)
        for b, needs_pair in all:
            b.disabled = interview.pair is None if needs_pair else not interview.asked

    button("Same", "success", lambda: interview.answer(True))
    button("Different", "danger", lambda: interview.answer(False))
    button("Skip", "", lambda: interview.answer(None))
    button("Back", "", interview.back, needs_pair=False)
    button("Stop", "", interview.end)
    show()
    return widgets.VBox([text, widgets.HBox([b for b, _ in all])])


def _page(interview: Interview) -> str:
    """Returns the pair of an interview, or what to do at its end, as HTML."""
    pair = interview.pair
    if pair is None:
        return f"<p>{html.escape(_ending(interview))}</p>"
    lines = []
    for line in pair.lines:
        line = re.sub(r"\[-(.*?)-\]", r'<del style="background:#fdd">\1</del>', html.escape(line))
        lines.append(re.sub(r"\{\+(.*?)\+\}", r'<ins style="background:#dfd">\1</ins>', line))
    head = html.escape(f"{interview.asked + 1} of {interview.ask}: {pair.a} and {pair.b}")
    return f'<b>{head}</b><pre style="white-space:pre-wrap">{chr(10).join(lines)}</pre>'


def _prompt(interview: Interview) -> None:
    """Asks through ``input``. The end of the input and Ctrl-C end the interview, which keeps its answers."""
    try:
        while interview.pair is not None:
            _ask(interview)
    except (EOFError, KeyboardInterrupt):
        interview.end()
        print()
    print(_ending(interview))


def _ask(interview: Interview) -> None:
    """Shows the pair of an interview, and reads lines until one is an answer."""
    pair = interview.pair
    assert pair
    head = f"{interview.asked + 1} of {interview.ask}: {pair.a} and {pair.b}"
    print("\n" + _one_line(head), *map(_one_line, pair.lines), sep="\n    ")
    while True:
        said = input("Are they the same? y(es), n(o), s(kip), b(ack), q(uit): ").strip().lower()
        if said in _ANSWERS:
            return interview.answer(_ANSWERS[said])
        if said in ("b", "back"):
            return interview.back()
        if said in ("q", "quit"):
            return interview.end()


def _one_line(text: str) -> str:
    """Returns a text for a terminal: what would control it is escaped, as by ``simdb learn``."""
    return _CONTROLS.sub(lambda c: c[0].encode("unicode_escape").decode(), text)


def _ending(interview: Interview) -> str:
    if not interview.labels:
        return "No pair was answered, so there is no rule."
    lesson = interview.lesson
    return f"{lesson.labels} label{'s' * (lesson.labels != 1)}, {lesson.right} of which agree with the rule that the others choose: {lesson.rule}"
