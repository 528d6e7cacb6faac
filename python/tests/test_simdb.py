"""Tests of the Python package: what goes in and comes out, and that rows are those of the command."""

import copy
import fcntl
import json
import multiprocessing
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

import simdb

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
np = pytest.importorskip("numpy")

COMMAND = os.path.join(os.path.dirname(sys.executable), "simdb")


def documents(n, seed=1, words=60):
    """Returns rows of texts, half of which are edited copies of others."""
    r = random.Random(seed)
    rows = []
    for i in range(n):
        if i % 2 and rows:
            text = rows[r.randrange(len(rows))]["text"].split()
            for _ in range(r.randrange(6)):
                if text:
                    text[r.randrange(len(text))] = f"w{r.randrange(5000)}"
        else:
            text = [f"w{r.randrange(5000)}" for _ in range(r.randrange(words))]
        rows.append({"id": f"d{i}", "text": " ".join(text), "score": r.randrange(100)})
    rows[3]["text"] = None
    rows[4]["text"] = "na\u00efve \U0001f600 " + (rows[4]["text"] or "")
    return rows


ROWS = documents(400)
TABLE = pa.table({name: [row[name] for row in ROWS] for name in ROWS[0]})


def kept_by_command(folder, rows, *flags):
    path = os.path.join(folder, "in.jsonl")
    with open(path, "w") as f:
        f.writelines(json.dumps(row) + "\n" for row in rows)
    out, audit = os.path.join(folder, "kept.jsonl"), os.path.join(folder, "audit.jsonl")
    subprocess.run([COMMAND, "dedup", path, "-o", out, "--audit", audit, "-q", *flags], check=True)
    with open(out) as f, open(audit) as g:
        next(g)
        return [json.loads(line)["id"] for line in f], [json.loads(line) for line in g]


@pytest.mark.parametrize("options", [
    {}, {"jaccard": 0.6}, {"near": 6}, {"near": 10, "verify": 0.5}, {"levenshtein": 0.7}, {"cosine": 0.8}, {"within": 0.7},
    {"keep": "longest"}, {"keep": ["max:score", "last"]}, {"keep": "min:score", "near": 8}, {"min_words": 20},
    {"shingle": "chars:5"}, {"shingle": "words:2", "jaccard": 0.5}, {"mask": ["numbers"]}, {"fold": ["accents", "width"]}, {"fold": "case,accents", "levenshtein": 0.9}, {"text": "text,id"},
])
def test_rows_are_those_of_the_command(tmp_path, options):
    flags = []
    for name, value in options.items():
        name = {"text": "text-field"}.get(name, name.replace("_", "-"))
        flags.append(f"--{name}={','.join(value) if name in ('keep', 'fold') and isinstance(value, list) else value[0] if isinstance(value, list) else value}")
    kept, audit = kept_by_command(tmp_path, ROWS, *flags)
    mask, table = simdb.dedup(TABLE, **options)
    assert [row["id"] for row, keep in zip(ROWS, mask) if keep] == kept
    assert [(r["id"], r["keeper"], r["score"], r["distance"], r["rule"], r["cluster"]) for r in audit] == [
        (r["id"], r["keeper"], r["score"], r["distance"], r["rule"], r["cluster"]) for r in table.to_pylist()
    ]
    for row in table.to_pylist():
        assert ROWS[row["row"]]["id"] == row["id"] and ROWS[row["keeper_row"]]["id"] == row["keeper"]
        assert not mask[row["row"]] and mask[row["keeper_row"]] and row["keeper_file"] is None
    assert options.get("min_words") or len(table) > 20


def forms():
    """Yields the table in all forms that hold it."""
    yield "batches", pa.Table.from_batches(TABLE.to_batches(max_chunksize=37))
    yield "slice", pa.concat_tables([TABLE.slice(0, 11), TABLE.slice(11, 300), TABLE.slice(311)])
    for kind in (pa.large_string(), pa.string_view()):
        yield str(kind), TABLE.set_column(1, "text", TABLE["text"].cast(kind))
    yield "dictionary", TABLE.set_column(1, "text", TABLE["text"].dictionary_encode())
    yield "reader", TABLE.to_reader()
    yield "rows", ROWS
    yield "columns", {name: [row[name] for row in ROWS] for name in ROWS[0]}
    try:
        import polars

        yield "polars", polars.from_arrow(TABLE)
    except ImportError:
        pass
    try:
        import pandas  # noqa: F401

        yield "pandas", TABLE.to_pandas()
    except ImportError:
        pass
    try:
        import duckdb

        yield "duckdb", duckdb.from_arrow(TABLE)
    except ImportError:
        pass


def test_forms_of_tables():
    want = list(simdb.dedup(TABLE, keep="max:score")[0])
    assert not all(want)
    seen = 0
    for name, form in forms():
        assert list(simdb.dedup(form, keep="max:score")[0]) == want, name
        seen += 1
    assert seen >= 8


def test_rows_without_ids():
    texts = ["one two three four", "something else", "one two three four"]
    for form in (pa.table({"text": texts}), [{"text": t} for t in texts], {"text": texts}):
        (row,) = simdb.dedup(form)[1].to_pylist()
        assert (row["row"], row["id"], row["keeper_row"], row["keeper"], row["keeper_file"]) == (2, "2", 0, "0", None)
    mask, audit = simdb.dedup({"text": texts}, keep="none")
    assert list(mask) == [False, True, False] and list(audit["keeper"]) == [None, "0"] and list(audit["keeper_row"]) == [None, 0]


def test_what_is_no_table():
    with pytest.raises(ValueError, match="different lengths"):
        simdb.dedup({"text": ["a", "b"], "id": ["1"]})
    with pytest.raises(simdb.SimdbError, match='several columns are named "text"'):
        simdb.dedup(pa.table([["a"], ["b"]], names=["text", "text"]))
    for call in (simdb.dedup, simdb.tune, simdb.fingerprints, lambda rows: simdb.dedup(TABLE, against=rows)):
        for rows in ([{"text": "a"}, {"id": "i" * 70000, "text": "b"}], pa.table({"id": ["a", "i" * 70000], "text": ["a", "b"]})):
            with pytest.raises(simdb.SimdbError, match="<.*2.* the limit is 65535"):
                call(rows)
    with pytest.raises(ValueError, match="JSON"):
        simdb.dedup([{"text": "a", "list": [float("inf")]}])
    for empty in ([], {}, {"text": []}, pa.table({"text": pa.array([], pa.string())}), pa.table({"text": pa.chunked_array([], pa.string())})):
        mask, audit = simdb.dedup(empty)
        assert len(mask) == len(audit) == 0 and np.asarray(mask).shape == (0,) and pa.table(audit).num_rows == 0
    row = {"text": "one two three four", "at": np.datetime64("2026-01-31"), "n": np.int32(5), "x": float("nan"), "b": b"xy"}
    assert list(simdb.dedup([row, row, {"text": None}])[0]) == [True, False, True]
    assert list(simdb.dedup(TABLE, jaccard=np.float32(0.5), memory=1 << 28)[0]) == list(simdb.dedup(TABLE, jaccard="50%")[0])


def test_streams_that_fail():
    def batches():
        yield TABLE.to_batches()[0]
        raise RuntimeError("the disk is on fire")

    with pytest.raises(simdb.SimdbError, match="could not be read: .*the disk is on fire"):
        simdb.dedup(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))

    class Again:
        capsule = TABLE.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    assert not all(simdb.dedup(Again())[0])
    with pytest.raises(simdb.SimdbError, match="already been read"):
        simdb.dedup(Again())
    with pytest.raises(simdb.SimdbError, match="could not be read: .*the disk is on fire"):
        simdb.fingerprints(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))


def test_levels(tmp_path):
    head = "a header that comes in each of these documents and has enough words"
    rows = [{"id": str(i), "text": f"{head}\n\n{' '.join(f'w{i}x{k}' for k in range(12))}"} for i in range(6)] + [{"id": "6", "text": head}]
    for level, options in (("paragraph", {}), ("line", {}), ("passage", {"min_words": 8})):
        path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        subprocess.run([COMMAND, "dedup", path, "--level", level, "-o", out, "--no-audit", "-q", *flags], check=True)
        want = {row["id"]: row["text"] for row in map(json.loads, out.read_text().splitlines())}
        for form in (rows, pa.Table.from_pylist(rows)):
            mask, cut = simdb.dedup(form, level=level, **options)
            got = {row["id"]: row["text"] for row, keep in zip(rows, mask) if keep}
            got.update({row["id"]: row["text"] for row in cut.to_pylist() if row["text"] is not None})
            assert got == want and list(mask) == [True] * 6 + [False] and cut["row"].to_pylist() == list(range(1, 7)), level


def test_masks_filter():
    mask, audit = simdb.dedup(TABLE)
    rows = list(mask)
    assert TABLE.filter(pa.array(mask)).num_rows == sum(rows) == np.asarray(mask).sum()
    assert pa.array(mask).to_pylist() == rows and np.asarray(mask).tolist() == rows
    assert mask[-1] == mask[np.int64(-1)] == rows[-1] and mask[2:5] == rows[2:5] and len(mask) == len(rows)
    with pytest.raises(IndexError):
        mask[len(rows)]
    arrow = pa.table(audit)
    assert arrow.to_pylist() == audit.to_pylist() == pa.table(audit).to_pylist()
    arrow.validate(full=True)
    assert np.asarray(audit["score"]).tolist() == audit["score"].to_pylist()
    del audit, mask
    assert arrow["row"][0].as_py() >= 0  # its memory stays


def test_fields_of_all_types(tmp_path):
    import datetime
    import decimal

    t = pa.table({
        "id": pa.array([1, 2]), "text": ["a b c d", "e f g h"],
        "i8": pa.array([-1, None], pa.int8()), "u64": pa.array([2**64 - 1, 0], pa.uint64()), "f": [1.5, float("nan")], "b": [True, None],
        "bytes": [b"\xff\x00", b"xy"], "day": [datetime.date(2026, 1, 31), None],
        "at": pa.array([datetime.datetime(2026, 1, 31, 12, 30, 0, 5), None], pa.timestamp("us", "UTC")),
        "dec": [decimal.Decimal("-12.340"), None], "list": [["x", None], []], "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        "struct": [{"a": 1, "b": None}, None], "null": pa.nulls(2), "fixed": pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)),
    })
    with simdb.open(tmp_path / "db") as db:
        assert db.add(t) == 2
        assert db.get("1")["fields"] == {
            "i8": -1, "u64": 2**64 - 1, "f": 1.5, "b": True, "bytes": "/wA=", "day": "2026-01-31", "at": "2026-01-31T12:30:00.000005Z",
            "dec": -12.34, "list": ["x", None], "map": {"k": 1}, "struct": {"a": 1}, "fixed": [1, 2],
        }
        assert db.get("2")["fields"] == {"u64": 0, "f": "NaN", "bytes": "xy", "list": [], "fixed": [3, 4]}
        with pytest.raises(simdb.SimdbError, match="run_end|not supported"):
            db.add(pa.table({"id": ["a"], "text": ["b"], "r": pa.RunEndEncodedArray.from_arrays([1], ["x"])}))


def test_against(tmp_path):
    held = TABLE.slice(0, 200)
    rest = TABLE.slice(200)
    path = tmp_path / "held.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:200]))
    mask, audit = simdb.dedup(rest, against=held)
    as_rows = simdb.dedup(rest, against=ROWS[:200])
    assert list(as_rows.mask) == list(mask) and as_rows.audit.to_pylist() == audit.to_pylist()
    assert list(simdb.dedup(rest, against=[])[0]) == list(simdb.dedup(rest)[0])
    by_path, _ = simdb.dedup(rest, against=path)
    assert list(mask) == list(by_path)
    apart = simdb.dedup(rest, against=path, within_field="score")[0].to_pylist()
    assert apart == simdb.dedup(rest, against=held, within_field="score")[0].to_pylist() != list(mask)
    known = [row for row in audit.to_pylist() if row["rule"] == "against"]
    assert known and all(ROWS[row["keeper_row"]]["id"] == row["keeper"] and row["keeper_file"] == "<against>" for row in known)
    with simdb.open(tmp_path / "db") as db:
        db.add(held)
        assert list(simdb.dedup(rest, against=[db.path])[0]) == list(mask)


def test_decontaminate():
    bench = [{"question": row["text"], "key": row["id"]} for row in ROWS[:200]]
    rest = ROWS[200:260] * 2
    mask, audit = simdb.decontaminate(rest, bench, against_text="question", jaccard=0.7)
    assert list(mask) == [simdb.dedup([row], against=TABLE.slice(0, 200), jaccard=0.7)[0][0] for row in rest]
    assert 0 < len(audit) < len(rest) and all(row["rule"] == "against" for row in audit.to_pylist())
    named = simdb.dedup(pa.Table.from_pylist(rest), against=pa.Table.from_pylist(bench), against_text="question", against_id="key", only_against=True, jaccard=0.7)
    assert list(named.mask) == list(mask) and set(named.audit["keeper"]) <= {row["id"] for row in ROWS[:200]}
    with pytest.raises(simdb.SimdbError, match="against_text"):
        simdb.decontaminate(rest, pa.Table.from_pylist(bench), text="text")
    with pytest.raises(simdb.SimdbError, match="only_against needs against"):
        simdb.dedup(rest, only_against=True)


def test_database_against_brute_force(tmp_path):
    rows = [row for row in ROWS if row["text"]]
    with simdb.open(tmp_path / "db") as db:
        assert db.add(rows) == len(rows) == len(db)
        prints = np.array([db.get(row["id"])["fingerprint"][0] if db.get(row["id"])["fingerprint"] else 0 for row in rows], dtype=np.uint64)
        assert np.array_equal(np.asarray([p or 0 for p in simdb.fingerprints(rows)], dtype=np.uint64), prints)
        for k in (0, 3, 9):
            found = db.near(prints[:50], k)
            got = {(q, id, d) for q, id, d in zip(*(found[name] for name in found.column_names))}
            bits = np.bitwise_count(prints[:50, None] ^ prints[None, :])
            want = {(int(q), rows[i]["id"], int(bits[q, i])) for q, i in zip(*np.nonzero(bits <= k)) if prints[i] or db.get(rows[i]["id"])["fingerprint"]}
            assert got == want
            assert [(m.id, m.distance) for m in db.near(int(prints[0]), k)] == [(id, d) for q, id, d in zip(*(found[n] for n in found.column_names)) if q == 0]
        texts = [row["text"] for row in rows]

        def shingles(text):
            words = text.lower().replace("\U0001f600", "").split()
            return {tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2))} if words else set()

        sets = [shingles(t) for t in texts]
        table = db.jaccard(texts[:40], 0.7)
        want = {(q, rows[i]["id"]) for q in range(40) for i in range(len(rows)) if sets[q] | sets[i] and len(sets[q] & sets[i]) >= 0.7 * len(sets[q] | sets[i])}
        assert set(zip(table["query"], table["id"])) == want
        joined = db.join(rows[:40], jaccard=0.7)
        assert set(zip(joined["row"], joined["id"])) == want and joined["query"][0] == rows[joined["row"][0]]["id"]


def test_database_writes(tmp_path):
    with simdb.open(tmp_path / "db", shingle="words:2") as db:
        text = "the quick brown fox jumps over the lazy dog again and again"
        assert db.put_novel({"id": "a", "text": text, "lang": "en"}, jaccard=0.8) is None
        match = db.put_novel({"id": "b", "text": text + " today"}, jaccard=0.8)
        assert match.id == "a" and 0.8 <= match.score < 1 and match.exact
        out = db.put_novel([{"id": "c", "text": "all other words"}, {"id": "d", "text": "all other words"}], near=0)
        assert out["stored"].to_pylist() == [True, False] and out["id"].to_pylist() == [None, "c"]
        assert db.query("JACCARD(?, 0.8) AND lang = ?", [simdb.Text(text), "en"])["id"].to_pylist() == ["a"]
        assert db.query("ID = $x SHOW id, lang", {"x": "a"}).to_pylist() == [{"id": "a", "lang": "en"}]
        for day, n in (("2026-01-31", 1), ("2199-01-31", 0)):
            assert len(db.query("ID = 'a' SINCE ?", [np.datetime64(day)])) == len(db.query("ID = 'a' SINCE ?", [np.datetime64(day, "ns")])) == n
        db.add([{"id": "f", "text": "f", "n": 1.5, "m": 2}, {"id": "g", "text": "g", "n": 1, "m": 1 << 80}])
        rows = db.query("ID >= 'f' SHOW n, m").to_pylist()
        assert rows == [{"n": 1.5, "m": "2"}, {"n": 1.0, "m": str(1 << 80)}] and db.delete("f", "g") == 2
        print_ = np.uint64(db.get("a")["fingerprint"][0])
        assert db.query("NEAR(?, ?)", [print_, 0])["id"].to_pylist() == ["a"]
        assert db.similar(text[:-6], levenshtein=0.8)[0].id == "a"
        assert db.query(".fields")["name"].to_pylist() == ["lang"]
        assert db.query(".allow", ["a", "c"]).message and db.query(".allowed").to_pylist() == [{"a": "a", "b": "c"}]
        assert db.query(".unallow", ["a", "c"]).message and len(db.query(".allowed")) == 0
        assert dict(zip(*[db.query(".stats")[name].to_pylist() for name in ("name", "value")]))["documents"] == str(len(db))
        for wrong, params in ((".nothing", []), (".allow", ["a"]), (".allow", ["a", 1]), (".allow", {"a": "b"}), ("FIELDS", [])):
            with pytest.raises(ValueError):
                db.query(wrong, params)
        assert "deleted" in db.query("DELETE 'c'").message
        assert db.delete("a", "zzz") == 1 and "a" not in db and len(db) == 0
        wide = np.array([[1, 2], [3, 4]], dtype=np.uint64)
        with pytest.raises(ValueError, match="1 words of 64 bits, not 2"):
            db.near(wide)
    with simdb.open(tmp_path / "wide", bits=128) as db:
        db.add(pa.table({"id": ["x", "y"], "fingerprint": pa.array([(1).to_bytes(8, "big") + (2).to_bytes(8, "big"), bytes(16)], pa.binary(16))}))
        assert db.near(wide, 0).to_pylist() == [{"query": 0, "id": "x", "distance": 0}]


def test_what_is_looked_for(tmp_path):
    """Arrays, numbers and nulls in the forms that other packages have them."""
    with simdb.open(os.fsencode(tmp_path / "db")) as db:
        text = "one two three four five"
        assert db.add({"id": "a", "text": text, "tags": ["x", "y"]}) == 1 and db.get("a")["fields"] == {"tags": ["x", "y"]}
        assert db.add({"id": ["b", "7"], "text": ["six seven eight nine", None]}) == 2
        for texts in ([text, None, "", " "], np.array([text, None], dtype=object), pa.array([text, None])):
            found = db.jaccard(texts, np.float32(0.9))
            assert list(zip(found["query"], found["id"])) == [(0, "a")]
        for by in ({"jaccard": 0.9}, {"near": 0}, {"levenshtein": 0.9}, {"cosine": 0.9}, {"contains": 0.9}):
            assert set(zip(*(db.join(pa.table({"text": [None, text, ""]}), **by)[n] for n in ("row", "id")))) == {(1, "a")}
        assert db.jaccard("") == [] and db.jaccard(None, id="a") == []
        assert db.get(7)["id"] == "7" and 7 in db and db.delete(7) == 1
        word = db.get("a")["fingerprint"][0] | 1 << 63
        for n in (word, word - (1 << 64), np.uint64(word), np.int64(word - (1 << 64))):
            assert [m.id for m in db.near(n, np.int64(1))] == ["a"]
            assert db.near([n], 1)["id"].to_pylist() == ["a"]
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        for n in (
            np.array([word, 1], dtype=">u8")[::2], pandas.Series([word], dtype="UInt64"), polars.Series([word], dtype=polars.UInt64),
            pa.array([word], pa.uint64()), (w for w in [word]),
        ):
            assert db.near(n, 1)["id"].to_pylist() == ["a"]
        for texts in (pandas.Series([pandas.NA, text], dtype="string"), polars.Series([None, text]), [np.float32("nan"), text]):
            assert db.jaccard(texts, 0.9)["query"].to_pylist() == [1]
        assert db.add({"id": pandas.Series(["n"]), "text": pandas.Series([pandas.NA], dtype="string")}) == 1
        assert db.add([{"id": np.int64(8), "fingerprint": np.uint64(1), "at": pandas.NaT, "x": pandas.NA, "y": np.float32("nan")}]) == 1
        assert db.add({"id": np.int64(9), "fingerprint": np.uint64(1)}) == 1 and db.get(8)["fields"] == {"at": None, "x": None, "y": None}
        for wrong in (1.5, "a", b"a", [None], 1 << 64, pandas.Series([word, None], dtype="UInt64"), [-(1 << 63) - 1], np.array([1.5]), np.zeros((1, 2, 3), dtype=np.uint64)):
            with pytest.raises((TypeError, ValueError), match="fingerprint"):
                db.near(wrong)
        for call in (
            lambda: db.near(1, 3.5), lambda: db.near(), lambda: db.near(1, text="x"), lambda: db.get(None), lambda: db.get(1.5),
            lambda: db.query("NEAR(?, 3)", "a"), lambda: db.query("n = ?", [None]), lambda: db.query("n = ?", [pandas.NaT]), lambda: db.query("n = ?", [np.datetime64("NaT")]), lambda: db.add(None), lambda: db.query(b"COUNT"),
            lambda: db.jaccard(b"one two"), lambda: db.jaccard([b"one"]), lambda: db.jaccard(TABLE), lambda: copy.copy(db), lambda: pickle.dumps(db),
        ):
            with pytest.raises(TypeError):
                call()
        for call in (
            lambda: db.query("n = ?", [1 << 64]), lambda: db.query("n = ?", [float("nan")]), lambda: db.near(id=""),
            lambda: db.jaccard(text, "80%"), lambda: simdb.open(os.fsencode(tmp_path) + b"/\xff"),
        ):
            with pytest.raises(ValueError):
                call()
        with pytest.raises(KeyError):
            db.near(id="none")


def test_errors(tmp_path):
    with pytest.raises(simdb.NotFoundError, match="no such database"):
        simdb.open(tmp_path / "none", must_exist=True)
    with pytest.raises(simdb.SimdbError, match="there is no folder"):
        simdb.open(tmp_path / "none" / "x.simdb")
    assert not (tmp_path / "none").exists()
    with pytest.raises(TypeError, match="unknown keyword sim, did you mean jaccard"):
        simdb.dedup(TABLE, sim=0.8)
    with pytest.raises(simdb.SimdbError, match='did you mean "text"'):
        simdb.dedup(TABLE, text="txt")
    with pytest.raises(simdb.SimdbError, match="no texts"):
        simdb.dedup(pa.table({"text": [1.5]}))
    with pytest.raises(simdb.SimdbError, match="there is no column"):
        simdb.dedup(pa.table({"body": ["x"]}))
    with pytest.raises(simdb.SimdbError, match='^jaccard: "true"'):
        simdb.dedup(TABLE, jaccard=True)
    with pytest.raises(simdb.SimdbError, match="text and fingerprint_field name others"):
        simdb.dedup([{"body": "x"}])
    with pytest.raises(simdb.SimdbError, match='looks hexadecimal; fingerprints="hex" or "decimal" says'):
        simdb.dedup({"fingerprint": ["1234567890123456789", "00ff00ff00ff00ff"]}, near=3)
    with pytest.raises(simdb.SimdbError, match="writes no files"):
        simdb.dedup(TABLE, rejects=str(tmp_path / "rejects"))
    with pytest.raises(simdb.SimdbError, match="file.jsonl: no such file"):
        simdb.dedup("file.jsonl")
    with simdb.open(tmp_path / "db") as db:
        with pytest.raises(simdb.ParseError, match="NEAR") as e:
            db.query("ID = 'a' AND\nNEAR(")
        assert (e.value.line, e.value.column) == (2, 6)
        with simdb.open(tmp_path / "db") as other:  # processes share a database
            assert len(other) == 0
        simdb.open(tmp_path / "own").close()
        with open(tmp_path / "own" / "LOCK", "r+") as lock:  # as a process does that shares nothing
            fcntl.flock(lock, fcntl.LOCK_EX)
            with pytest.raises(simdb.LockedError):
                simdb.open(tmp_path / "own", busy_timeout=1e-5)
        with simdb.open(tmp_path / "db", readonly=True) as reader:
            with pytest.raises(simdb.ReadOnlyError):
                reader.add(ROWS[:1])
            db.add(ROWS[:1])
            reader.refresh()
            assert len(reader) == 1
        with pytest.raises(simdb.SimdbError, match="one criterion"):
            db.join(TABLE)
    with pytest.raises(simdb.ClosedError):
        db.near(1)
    db.close()
    (path,) = (tmp_path / "db").glob("CATALOG")
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    data[:8192] = bytes(8192)
    path.write_bytes(data)
    with pytest.raises(simdb.CorruptionError) as c:
        simdb.open(tmp_path / "db")
    assert "CATALOG" in c.value.file
    with pytest.raises(simdb.NotDatabaseError):
        (tmp_path / "file").write_text("x")
        simdb.open(tmp_path / "file")


def test_threads(tmp_path):
    want = list(simdb.dedup(TABLE)[0])
    with simdb.open(tmp_path / "db") as db:
        db.add(ROWS)
        failed = []

        def work(n):
            try:
                for i in range(5):
                    assert list(simdb.dedup(TABLE)[0]) == want
                    assert db.near(id=ROWS[n * 5 + i]["id"], k=0) is not None
            except BaseException as e:  # noqa: BLE001
                failed.append(e)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failed


def test_ctrl_c():
    texts = [" ".join(f"w{random.randrange(300)}" for _ in range(3000)) for _ in range(800)]
    table = pa.table({"text": texts})
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    start = time.time()
    # A process in the background of a shell ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            while time.time() - start < 20:  # until the signal comes, the work begins again
                simdb.dedup(table, levenshtein=0.5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.time() - start < 20
    assert list(simdb.dedup(pa.table({"text": ["a b c", "a b c"]}))[0]) == [True, False]


def test_ctrl_c_at_once(monkeypatch):
    """An exception that comes when a call has just begun ends the call, whose streams and numbers are in use."""
    lib, ended = simdb._library.library(), []

    class Interrupted:
        def __getattr__(self, name):
            return getattr(lib, name)

        def simdb_start(self, *args):
            lib.simdb_start(*args)
            raise KeyboardInterrupt

        def simdb_result(self, *args):
            ended.append(lib.simdb_result(*args))

    monkeypatch.setattr(simdb._library, "_loaded", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        simdb.dedup(TABLE)
    assert len(ended) == 1


def test_ctrl_c_in_open(monkeypatch, tmp_path):
    """An exception that comes when a database is open, before its number is known, closes it."""
    lib = simdb._library.library()

    class Interrupted:
        def __getattr__(self, name):
            return getattr(lib, name)

        def simdb_wait(self, *args):
            while not lib.simdb_wait(*args):
                pass
            monkeypatch.setattr(simdb._library, "_loaded", lib)  # the signal comes once
            raise KeyboardInterrupt

    path = tmp_path / "x.simdb"
    monkeypatch.setattr(simdb._library, "_loaded", Interrupted())
    with pytest.raises(KeyboardInterrupt) as caught:  # which keeps the frame, as a notebook does
        simdb.open(path)
    with simdb.open(path) as db:
        assert len(db) == 0
    assert caught.value is not None


def forked(queue):
    try:
        simdb.dedup(TABLE)
        queue.put("worked")
    except simdb.SimdbError as e:
        queue.put(str(e))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork():
    mask, audit = simdb.dedup(TABLE)  # so that the library is loaded; both are freed by the fork, too
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    p = context.Process(target=forked, args=(queue,))
    p.start()
    assert "forked" in queue.get(timeout=60)
    p.join(60)
    assert p.exitcode == 0 and len(mask) == 400
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    p = context.Process(target=forked, args=(queue,))
    p.start()
    assert queue.get(timeout=120) == "worked"
    p.join(60)


def test_tune_and_version():
    rows = simdb.tune(TABLE, sample=400).to_pylist()
    assert [row["criterion"] for row in rows][:2] == ["near=0", "near=1"] and rows[-1]["criterion"] == "jaccard=0.5"
    assert 0 < rows[-1]["share"] <= 1 and rows[-1]["a"].startswith("d")
    out = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0] == "simdb " + simdb.version()
    assert subprocess.run([COMMAND, "dedup", "/nonexistent"], capture_output=True).returncode == 2


USER = """
from typing import Any
import simdb

def use(table: Any, prints: Any) -> None:
    mask, audit = simdb.dedup(table, text=["title", "body"], keep="longest", min_words=5)
    kept: int = sum(mask)
    first: bool = mask[0]
    with simdb.open("x", ttl="48h") as db:
        ids = [m.id for m in db.near(1, 3)] + [db.jaccard("text", 0.8)[0].id, db.similar("x", cosine=0.9)[0].id, db.near(id="a")[0].id]
        tables = [db.near(prints, 3).to_pylist(), db.jaccard(["a", "b"])["id"].to_pylist(), db.query("COUNT").to_pylist()]
        match = db.put_novel({"id": "a", "text": "b"}, jaccard=0.8)
        if match:
            print(match.id, audit.to_pylist(), kept, first, ids, tables, "a" in db, db.add(table, text="body", id="key"))
    result = simdb.decontaminate(table, "bench.parquet", text="body", against_text="question", jaccard=0.5)
    rows: list[int] = result.kept + result.mask.rows + (~result.mask).rows
    cells = [result.audit[0]["row"], result.audit["row"][0], *result.audit]
    rules: list[str] = [simdb.learn(table).rule, simdb.learn(table, [("0", "1", True)]).rule, simdb.learn(table, [], ask=5).lesson.rule]
    print(rows, cells, rules, simdb.__version__ + "x", simdb.picture_hashes(["a.png"], "pdq").near, result.audit.to_pandas())
"""


def test_version_of_the_command():
    said = subprocess.run([COMMAND, "version"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert said[0] == "simdb " + simdb.__version__ and re.fullmatch(r"commit    ([0-9a-f]{40}(, with changes)?|that of v.*)", said[1])
    assert said[2].endswith("shared library, C interface 1")


def test_types():
    mypy = pytest.importorskip("mypy.api")
    said, wrong, code = mypy.run(["--strict", "--cache-dir", os.devnull, "-p", "simdb"])
    assert code == 0, said + wrong
    said, wrong, code = mypy.run(["--strict", "--cache-dir", os.devnull, "-c", USER])
    assert code == 0, said + wrong


def test_many_rows(tmp_path):
    n = 20_000
    prints = np.random.default_rng(1).integers(0, 2**64, n, dtype=np.uint64)
    prints[n // 2 :] = prints[: n // 2] ^ np.uint64(5)
    table = pa.table({"id": [str(i) for i in range(n)], "fingerprint": prints})
    mask, audit = simdb.dedup(table, near=2)
    assert np.asarray(mask).tolist() == [True] * (n // 2) + [False] * (n // 2)
    assert np.asarray(audit["keeper_row"]).tolist() == list(range(n // 2))
    with simdb.open(tmp_path / "db") as db:
        assert db.add(table) == n == len(db)
        found = db.near(prints.view(np.int64), 0)
        assert np.asarray(found["query"]).tolist() == list(range(n))
        db.compact()
        assert len(db) == n


def test_versions(monkeypatch):
    """Versions of tags are those of packages."""
    monkeypatch.syspath_prepend(os.path.join(os.path.dirname(__file__), ".."))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    backend = pytest.importorskip("build_wheel")
    for tag, version in {"v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3rc1", "v1.2.3-rc.1-4-gabc": "1.2.3rc1.post4+gabc", "1.2.3-4-gabc": "1.2.3.post4+gabc"}.items():
        monkeypatch.setenv("SIMDB_VERSION", tag)
        assert backend.version() == version


@pytest.mark.parametrize("page", ["README.md", "docs/cookbook.md", "docs/c.md", "python/README.md"])
def test_pages_run(tmp_path, monkeypatch, page):
    """Python of the pages runs, word for word. The other blocks of the first two are run by a test in Go."""
    root = os.path.join(os.path.dirname(__file__), "..", "..")
    if not os.path.exists(os.path.join(root, page)):
        pytest.skip("the tests are not in a checkout")
    with open(os.path.join(root, page), encoding="utf-8") as f:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", f.read(), re.M | re.S)
    python = [body for kind, body in blocks if kind == "python"]
    assert bool(python) == (page != "README.md")
    if page == "python/README.md":  # what is not Python says how to install
        assert all(line.startswith("pip install ") for kind, body in blocks if kind != "python" for line in body.splitlines())
    shutil.copytree(os.path.join(root, "examples"), tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    pq.write_table(TABLE, "shard.parquet" if page != "docs/c.md" else "shard-1.parquet")
    names = {}
    for body in python:
        exec(compile(body, page, "exec"), names)
    if page == "docs/c.md":
        assert names["audit"].num_rows == len(simdb.dedup(TABLE).audit) > 0
    elif python:
        assert 0 < len(names["audit"]) == len(names["table"]) - len(names["kept"])
