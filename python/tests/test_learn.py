"""Tests of rules that are learned, and of the questions in a notebook and at a prompt."""

import builtins
import json
import sys
import types

import pytest

import simdb

SIDES = ["left", "right", "rear", "front", "upper", "lower"]
TEXTS = [f"valve {i} of the cooling pump made of brass number {i} in the {side} engine" for i in range(12) for side in SIDES]
COPIES = [(i, i + 1) for i in range(len(TEXTS), len(TEXTS) + 24, 2)]
for _i in range(len(COPIES)):
    _same = f"a longer description {_i} of something else that was copied with one small change by hand and then sold"
    TEXTS += [_same, f"{_same} typo{_i}"]
TABLE = {"id": [str(i) for i in range(len(TEXTS))], "text": TEXTS}
LABELS = [(6 * i, 6 * i + 1, False) for i in range(12)] + [(a, b, True) for a, b in COPIES]


def is_copy(pair):
    return tuple(sorted((int(pair.a), int(pair.b)))) in COPIES


def test_learn():
    lesson = simdb.learn(TABLE, LABELS)
    assert lesson.labels == 24 and lesson.right >= 22 and lesson.low <= lesson.right / 24 <= lesson.high
    result = simdb.dedup(TABLE, rule=lesson.rule)
    assert result.dropped == [b for _, b in COPIES]
    as_dicts = [{"a": str(a), "b": str(b), "same": same} for a, b, same in LABELS]
    assert simdb.learn(TABLE, as_dicts, text="text", id="id").rule == lesson.rule
    with pytest.raises(simdb.SimdbError, match='no document "none"'):
        simdb.learn(TABLE, [("0", "none", True)])
    with pytest.raises(TypeError, match="is a bool"):
        simdb.learn(TABLE, [("0", "1", "yes")])
    with pytest.raises(simdb.InvalidError, match="no labels"):
        simdb.learn(TABLE, [])


def test_files_of_labels(tmp_path):
    """A file of labels or of decisions is learned from like a list."""
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"a": str(a), "b": str(b), "same": same}) + "\n" for a, b, same in LABELS))
    assert simdb.learn(TABLE, path) == simdb.learn(TABLE, str(path)) == simdb.learn(TABLE, LABELS)
    path.write_text("".join(json.dumps({"a": str(a), "b": str(b), "decision": "drop" if same else "allow"}) + "\n" for a, b, same in LABELS))
    assert simdb.learn(TABLE, path).rule == simdb.learn(TABLE, LABELS).rule
    path.write_text('{"a": "1"}\n')
    with pytest.raises(simdb.SimdbError, match=r"labels.jsonl:1: "):
        simdb.learn(TABLE, path)
    path.write_text("")
    with pytest.raises(simdb.InvalidError, match="no labels"):
        simdb.learn(TABLE, path)


def answers(monkeypatch, said):
    """Lets said(number of the question) answer at the prompt. Returns the questions."""
    asked = []

    def read(prompt):
        asked.append(prompt)
        return said(len(asked))

    monkeypatch.setattr(builtins, "input", read)
    return asked


def test_prompt(monkeypatch, capsys):
    answers(monkeypatch, lambda n: ["maybe", "y", "back", "s", "No", "q"][n - 1])
    interview = simdb.learn(TABLE)
    assert [same for _, _, same in interview.labels] == [False] and interview.asked == 2 and interview.pair is None
    shown = capsys.readouterr().out
    assert shown.count("1 of 30: ") == 2 and shown.count("2 of 30: ") == 2 and shown.count("3 of 30: ") == 1
    assert "[-" in shown and "1 label, " in shown

    def at_end(n):
        raise EOFError

    answers(monkeypatch, at_end)
    assert simdb.learn(TABLE).labels == [] and "no rule" in capsys.readouterr().out


@pytest.mark.parametrize("while_asking", [False, True])
def test_ctrl_c_at_the_prompt(monkeypatch, capsys, while_asking):
    """Ctrl-C loses no answer, whether at the prompt or while the next pair is looked for."""
    real = simdb._learn.call

    def call(request, *args, **keywords):
        if request["op"] == "ask" and len(request["labels"]) == 2:
            raise KeyboardInterrupt
        return real(request, *args, **keywords)

    def said(n):
        if n == 3:
            raise KeyboardInterrupt
        return "yn"[n - 1]

    if while_asking:
        monkeypatch.setattr(simdb._learn, "call", call)
    asked = answers(monkeypatch, said)
    interview = simdb.learn(TABLE)
    assert [same for _, _, same in interview.labels] == [True, False] and interview.asked == 2 and interview.pair is None
    assert len(asked) == (2 if while_asking else 3) and "\n2 labels, " in capsys.readouterr().out
    assert interview.rule == simdb.learn(TABLE, interview.labels).rule


def test_prompt_of_hostile_texts(monkeypatch, capsys):
    """Texts and ids do not control the terminal."""
    answers(monkeypatch, lambda n: "q")
    text = "one two three\x1b[2J four\nfive \u202esix seven\u00a0eight"
    simdb.learn({"id": ["a\x1b]0;title\x07", "b"], "text": [text, text + " nine"]})
    shown = capsys.readouterr().out
    assert "1 of 30: a\\x1b]0;title\\x07 and b" in shown and "three\\x1b[2J four\\nfive \\u202esix seven\u00a0eight" in shown
    assert not set(shown) & {"\x1b", "\x07", "\u202e"}


def test_prompt_to_the_end(monkeypatch, capsys):
    """Answers choose the rule of an interview; another one goes on with its labels, and asks about other pairs."""
    monkeypatch.setattr("simdb._notebook._prompt", lambda interview: None)
    first = simdb.learn(iter([{"id": i, "text": t} for i, t in zip(TABLE["id"], TEXTS)]), ask=12)  # read once
    seen = []
    while first.pair:
        seen.append((first.pair.a, first.pair.b))
        first.answer(is_copy(first.pair))
    assert first.asked == 12 and len(set(seen)) == 12 and first.labels == [(a, b, is_copy(simdb.Pair(a, b, 0, []))) for a, b in seen]
    with pytest.raises(ValueError, match="no question"):
        first.answer(True)
    second = simdb.learn(TABLE, first.labels, ask=8)
    while second.pair:
        seen.append((second.pair.a, second.pair.b))
        second.answer(is_copy(second.pair))
    assert len(set(seen)) == len(seen) and second.labels[:12] == first.labels
    assert second.rule == simdb.learn(TABLE, second.labels).rule and repr(second) == "<simdb.Interview at its end, 20 labels>"
    dropped = simdb.dedup(TABLE, rule=second.rule).dropped
    assert dropped == [b for _, b in COPIES]


def test_no_pairs(monkeypatch):
    answers(monkeypatch, lambda n: pytest.fail("there is nothing to ask about"))
    assert simdb.learn(["one two three four", "five six seven eight"]).pair is None


@pytest.fixture
def notebook(monkeypatch):
    """Makes this process look like the kernel of a notebook. Returns what is displayed."""
    pytest.importorskip("ipywidgets")
    display = pytest.importorskip("IPython.display")
    shown = []
    monkeypatch.setattr(display, "display", shown.append)
    monkeypatch.setattr(builtins, "get_ipython", lambda: types.SimpleNamespace(kernel=object()), raising=False)
    return shown


def test_buttons(notebook, monkeypatch):
    answers(monkeypatch, lambda n: pytest.fail("a notebook has buttons"))
    interview = simdb.learn({"text": TEXTS}, ask=6)
    (widget,) = notebook
    text, row = widget.children
    same, different, skip, back, stop = row.children
    assert [b.description for b in row.children] == ["Same", "Different", "Skip", "Back", "Stop"]
    assert [b.disabled for b in row.children] == [False, False, False, True, False]
    assert "1 of 6" in text.value and "<del" in text.value and "<ins" in text.value
    first = interview.pair
    same.click()
    assert interview.labels == [(first.a, first.b, True)] and "2 of 6" in text.value and not back.disabled
    back.click()
    assert interview.labels == [] and interview.pair == first and "1 of 6" in text.value and back.disabled
    skip.click()
    assert interview.labels == [] and interview.asked == 1 and interview.pair != first
    different.click()
    assert [same for _, _, same in interview.labels] == [False]
    while interview.pair:
        (same if is_copy(interview.pair) else different).click()
    assert interview.asked == 6 and len(interview.labels) == 5 and interview.rule in text.value.replace("&gt;", ">")
    assert [b.disabled for b in row.children] == [True, True, True, False, True]
    back.click()
    stop.click()
    assert interview.pair is None and len(interview.labels) == 4


def test_markup_in_texts(notebook):
    simdb.learn(["<b>one</b> two three four five six", "<b>one</b> two three four five six <i>seven</i>"], ask=1)
    assert "&lt;b&gt;one" in notebook[0].children[0].value and "<i>" not in notebook[0].children[0].value


def test_without_buttons(notebook, monkeypatch, capsys):
    """Without ipywidgets a notebook asks as a terminal does, and says what would show buttons."""
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    asked = answers(monkeypatch, lambda n: "q")
    simdb.learn(TABLE)
    assert asked and not notebook and "pip install ipywidgets" in capsys.readouterr().out


def test_documents_are_forgotten(monkeypatch):
    monkeypatch.setattr("simdb._notebook._prompt", lambda interview: None)
    interview = simdb.learn(TABLE)
    request = {"op": "ask", "db": interview._number}
    assert simdb._library.call(request).values["pair"]
    del interview
    with pytest.raises(simdb.ClosedError):
        simdb._library.call(request)


def test_fields():
    """A rule of fields needs no column of texts."""
    table = {
        "id": ["1", "2", "3", "4"],
        "name": ["Acme Lantern Works Ltd", "Acme Lantern Work Ltd", "Acme Lantern Works Ltd", "Norwick Bread"],
        "street": ["4 Pier Road", "4 Pier Rd", "77 Mill Lane", "4 Pier Road"],
    }
    arrow = pytest.importorskip("pyarrow").table(table)
    for how in ({"levenshtein": "name:0.9,street:0.7"}, {"rule": "LEVENSHTEIN(name) >= 0.9 AND LEVENSHTEIN(street) >= 0.7"}):
        assert simdb.dedup(table, **how).dropped == simdb.dedup(arrow, **how).dropped == [1]
    with pytest.raises(simdb.SimdbError, match='no column "text"'):
        simdb.dedup(arrow, jaccard=0.8)
