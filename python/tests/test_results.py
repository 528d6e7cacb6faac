"""Tests of results: what other packages do with them as they are, and hashes of pictures."""

import copy
import io
import json
import pickle
import random

import pytest

import simdb
from test_simdb import ROWS, TABLE

pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")


def test_masks_select_rows_as_they_are():
    result = simdb.dedup(TABLE)
    mask, audit = result
    want = [row["id"] for row, keep in zip(ROWS, mask) if keep]
    assert 0 < len(want) == sum(mask) < len(mask) == len(ROWS) and all(type(keep) is bool for keep in mask)
    assert [ROWS[n]["id"] for n in result.kept] == want and sorted(result.kept + result.dropped) == list(range(len(ROWS)))
    assert result.kept == mask.rows and {row["row"] for row in audit} == set(result.dropped)
    assert TABLE.filter(mask)["id"].to_pylist() == want
    assert TABLE.take(result.kept)["id"].to_pylist() == want
    assert np.array([row["id"] for row in ROWS])[mask].tolist() == want
    assert (~mask).rows == result.dropped and (mask & ~mask).rows == [] and all(mask | ~mask)
    assert isinstance(mask & np.ones(len(mask), dtype=bool), simdb.Mask) and (mask & np.ones(len(mask), dtype=bool)) == mask
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    df = TABLE.to_pandas()
    odd = df.set_index(pandas.Index(range(1000, 1000 + len(df))))
    for frame in (df, odd):
        assert frame[mask]["id"].tolist() == frame.loc[mask]["id"].tolist() == frame["id"][mask].tolist() == want
        assert frame[~mask]["id"].tolist() == [ROWS[n]["id"] for n in result.dropped]
    assert df.iloc[result.kept]["id"].tolist() == want
    frame = polars.from_arrow(TABLE)
    assert frame.filter(mask)["id"].to_list() == frame.lazy().filter(mask).collect()["id"].to_list() == frame["id"].filter(mask).to_list() == want
    assert frame[result.kept]["id"].to_list() == want
    assert frame.with_columns(polars.Series("keep", mask)).filter(polars.col("keep"))["id"].to_list() == want


def test_tables_convert_themselves():
    audit = simdb.dedup(TABLE).audit
    rows = audit.to_pylist()
    assert list(audit) == rows and audit[0] == rows[0] and audit[-1] == rows[-1] and len(rows) > 20
    with pytest.raises(IndexError):
        audit[len(audit)]
    assert audit.to_arrow().to_pylist() == rows
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert audit.to_polars().to_dicts() == polars.DataFrame(audit).to_dicts() == rows
    for df in (audit.to_pandas(), pandas.DataFrame(audit)):
        assert list(df.columns) == audit.column_names and df["id"].tolist() == [row["id"] for row in rows]
        assert df["score"].tolist() == [row["score"] for row in rows]
    assert audit.to_pandas()["row"].dtype == "Int64" and audit.to_pandas()["distance"].isna().all()
    shown = repr(audit)
    assert shown.count("\n") == 11 and shown.splitlines()[0].split() == audit.column_names and rows[0]["id"] in shown and f"{len(rows)} rows, 10 shown" in shown
    page = simdb.dedup([{"id": "<b>", "text": "a b c"}, {"id": "<c>", "text": "a b c"}])
    assert "<td>&lt;c&gt;</td>" in page._repr_html_() and "1 of 2 rows kept" in page._repr_html_() and "<c>" not in page.audit._repr_html_()
    assert repr(page.mask) == "<simdb.Mask of 2 rows, 1 kept: [True, False]>" and "1 kept" in repr(page)
    assert repr(page.audit["row"]) == "<simdb.Column of 1 values: [1]>"


def wide_words(r):
    return [r.getrandbits(64) for _ in range(4)]


def test_warnings():
    """Rows that cannot be compared are named, with their numbers."""
    rows = [{"text": "one two <b>"}, {"text": ["a", {"x": 1}]}, {"text": "one two <b>"}, {"fingerprint": "<i>"}]
    result = simdb.dedup(rows, fold="accents")
    assert result.kept == [0, 1, 3] and [w.split(": ")[0] for w in result.audit.warnings[:2]] == ["<table>:2", "<table>:4"]
    assert any("2 lines with an unusable" in w for w in result.audit.warnings) and 'fold="accents" changes nothing in <table>' in repr(result)
    assert "<p>&lt;table&gt;:2: " in result._repr_html_() and "<i>" not in result._repr_html_()
    assert simdb.dedup(rows[:1]).audit.warnings == simdb.dedup(TABLE).audit.warnings == []


def test_copies(monkeypatch):
    """What cannot be copied or sent to another process says what can."""
    result = simdb.dedup(["one two three", "four", "one two three"])
    assert pickle.loads(pickle.dumps(result.mask)) == copy.deepcopy(result.mask) == result.mask
    monkeypatch.setattr("simdb._notebook._prompt", lambda interview: None)
    interview = simdb.learn([f"the text number {i} of some words" for i in range(8)])
    for what, rest in ((result, r"to_pylist\(\)"), (result.audit, "to_arrow"), (result.audit["row"], "to_pandas"), (interview, "interview.labels")):
        for way in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be copied or pickled: .*" + rest):
                way(what)
    for what in (result.audit, interview):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            copy.copy(what)
    assert interview.pair


def test_forms_of_wide_fingerprints(tmp_path):
    r = random.Random(5)
    prints = [wide_words(r) for _ in range(40)]
    prints[1] = [prints[0][0] ^ 7, *prints[0][1:]]
    prints[2] = [0, 0, 0, 5]
    rows = [{"id": str(n), "fingerprint": words} for n, words in enumerate(prints)]
    with simdb.open(tmp_path / "db", bits=256) as db:
        assert db.add(rows) == 40 and db.bits == 256
        for n in (0, 2, 17):
            words = prints[n]
            raw = b"".join(w.to_bytes(8, "big") for w in words)
            bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8))

            class Hash:  # as imagehash has it
                hash = bits.astype(bool).reshape(16, 16)

            want = [(str(n), 0)] + ([("1", 3)] if n == 0 else [])
            forms = (
                int(raw.hex(), 16), raw.hex(), "0x" + raw.hex().upper(), raw, words, tuple(words), np.array(words, dtype=np.uint64), bits, bits.astype(bool), bits.astype(np.int64),
                np.frombuffer(raw, dtype=np.uint8), Hash(), Hash.hash, db.get(str(n))["fingerprint"],
            )
            for form in forms:
                assert [(m.id, m.distance) for m in db.near(form, 3)] == want, form
            for form in ([raw.hex()], [int(raw.hex(), 16)], [raw], np.array([words], dtype=np.uint64), [Hash()], bits.astype(np.int64)[None], [bits.astype(np.int64)], (f for f in [raw])):
                assert [(row["query"], row["id"], row["distance"]) for row in db.near(form, 3)] == [(0, *w) for w in want], form
            with simdb.open(tmp_path / f"other{n}", bits=256) as other:
                given = (raw.hex(), raw, words, bits.astype(np.int64), np.array(words, dtype=np.uint64), Hash(), *([int(raw.hex(), 16)] if n != 2 else []))
                assert other.add([{"id": str(i), "fingerprint": form} for i, form in enumerate(given)]) == len(given)
                assert {tuple(other.get(str(i))["fingerprint"]) for i in range(len(given))} == {tuple(words)}
        everything = [(m.id, m.distance) for m in db.near(prints[0], 256)]
        assert everything == sorted(((str(n), sum((a ^ b).bit_count() for a, b in zip(prints[0], p))) for n, p in enumerate(prints)), key=lambda m: (m[1], m[0]))
        for wrong in ("ff", "g" * 64, b"1234567", bytes(8), 1 << 256, np.array([[1, 2]], dtype=np.uint64), [None], 1.5):
            with pytest.raises((TypeError, ValueError), match="fingerprint"):
                db.near(wrong)
    hex_table = pa.table({"fingerprint": ["".join(f"{w:016x}" for w in p) for p in prints]})
    binary = pa.table({"fingerprint": pa.array([b"".join(w.to_bytes(8, "big") for w in p) for p in prints], pa.binary(32))})
    rows_of_bits = np.unpackbits(np.array(prints, dtype=">u8").view(np.uint8), axis=1)
    assert rows_of_bits.shape == (40, 256)
    for form in (rows_of_bits, rows_of_bits.astype(bool), rows_of_bits.astype(np.int64), hex_table, binary, hex_table.to_reader(), binary.to_reader(), [{"fingerprint": p} for p in prints], np.array(prints, dtype=np.uint64)):
        assert simdb.dedup(form, near=3).dropped == [1]


def test_bits_or_numbers(tmp_path):
    """With 64 bits, 64 numbers of 0 and 1 are so many fingerprints; a row of an array of them is the bits of one."""
    with simdb.open(tmp_path / "db") as db:
        db.add([{"id": str(i), "fingerprint": i} for i in range(2)])
        bits = np.zeros(64, dtype=np.int64)
        bits[-1] = 1
        assert [row["id"] for row in db.near(bits, 0)] == ["0"] * 63 + ["1"]
        assert [row["id"] for row in db.near(bits[None], 0)] == ["1"]


def pictures(folder):
    """Writes 12 pictures, every third of which is a smaller copy of the one before."""
    Image = pytest.importorskip("PIL.Image")
    r = np.random.default_rng(3)
    made = []
    for n in range(12):
        if n % 3 == 2:
            made.append(made[-1].resize((200, 150)))
        else:
            small = Image.fromarray(r.integers(0, 255, (9, 12, 3), dtype=np.uint8))
            made.append(small.resize((400, 300), Image.Resampling.BICUBIC))
        made[-1].save(folder / f"{n:02d}.png")
    return made


def test_pictures(tmp_path):
    made = pictures(tmp_path)
    paths = sorted(tmp_path.glob("*.png"))
    hashes = simdb.picture_hashes(paths)
    assert hashes.near == 31 and list(hashes["id"]) == [str(p) for p in paths] and all(len(h) == 64 for h in hashes["fingerprint"])
    assert all(w in (200, 400) for w in hashes["width"]) and list(hashes["error"]) == [None] * 12
    streams = [io.BytesIO() for _ in made]
    for image, stream in zip(made, streams):
        image.save(stream, "PNG")
    forms = (tmp_path, str(tmp_path), [str(p) for p in paths], [p.read_bytes() for p in paths], made, (p for p in paths), [{"bytes": s.getvalue()} for s in streams], [{"path": str(p)} for p in paths])
    for form in forms:
        assert list(simdb.picture_hashes(form)["fingerprint"] if form is not forms[5] else hashes["fingerprint"]) == list(hashes["fingerprint"])
    for form in (tmp_path, made, [str(p) for p in paths]):
        assert simdb.dedup(form, images="pdq").dropped == [2, 5, 8, 11]
    assert simdb.dedup(hashes, near=31).dropped == [2, 5, 8, 11]
    assert simdb.dedup(made[3:], images="pdq", against=made[:3], only_against=True).dropped == []
    assert simdb.decontaminate(made, made[2:3], images="pdq").dropped == [1, 2]
    broken = tmp_path / "broken.png"
    broken.write_bytes(paths[0].read_bytes()[:90])
    rows = list(simdb.picture_hashes([broken, tmp_path / "none.png", paths[0], b"no picture"]))
    assert [row["fingerprint"] is None for row in rows] == [True, True, False, True] == [row["error"] is not None for row in rows] and "no such file" in rows[1]["error"]
    assert simdb.dedup([broken, broken, paths[0]], images="pdq").kept == [0, 1, 2]
    with simdb.open(tmp_path / "bank", bits=256) as db:
        assert db.add(hashes) == 12
        assert {m.id for m in db.near(simdb.picture_hashes(made[2])["fingerprint"][0], 31)} == {str(paths[1]), str(paths[2])}
        assert len(db.near(hashes["fingerprint"], 31)) == 20
    for wrong in ([5], "nothing"):
        with pytest.raises((TypeError, simdb.SimdbError)):
            simdb.dedup(wrong, images="pdqq" if wrong == "nothing" else "pdq")
    assert len(simdb.picture_hashes(paths, "dhash")["fingerprint"][0]) == 16 and simdb.picture_hashes(paths, "dhash")["quality"][0] is None


# Columns of twelve published benchmarks, and which of them is the text that must not be trained on.
BENCHMARKS = {
    "gsm8k": ("question", "answer"), "mmlu": ("question", "subject", "choices", "answer"), "hellaswag": ("ctx", "ind", "endings", "label"),
    "arc": ("question", "id", "choices", "answerKey"), "truthfulqa": ("question", "type", "category", "best_answer"), "winogrande": ("sentence", "option1", "option2", "answer"),
    "humaneval": ("prompt", "task_id", "canonical_solution", "test"), "mbpp": ("text", "task_id", "code", "test_list"), "boolq": ("passage", "question", "answer"),
    "piqa": ("goal", "sol1", "sol2"), "lambada": ("text", "domain"), "squad": ("context", "id", "title", "question", "answers"),
}


def benchmark(name, r):
    text, *others = BENCHMARKS[name]
    rows = []
    for n in range(25):
        row = {text: " ".join(f"{name[0]}{r.randrange(900)}" for _ in range(r.randrange(12, 40)))}
        for column in others:
            row[column] = [f"{column} {n}", "b"] if column in ("choices", "endings", "test_list", "answers") else f"{column} {n}"
        rows.append(row)
    return text, rows


def shingles(text):
    words = text.lower().split()
    return {tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2))}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks_against_layouts_of_shards(tmp_path, name):
    """Only what is in the benchmark goes, as brute force says, and whatever the shards look like."""
    r = random.Random(name)
    column, rows = benchmark(name, r)
    texts = []
    for n in range(160):
        held = r.choice(rows)[column].split()
        if n % 4 == 0:
            held[r.randrange(len(held))] = f"z{n}"
        texts.append(" ".join(held) if n % 4 < 2 else texts[-1] if n % 4 == 3 else " ".join(f"t{r.randrange(900)}" for _ in range(30)))
    sets, known = [shingles(t) for t in texts], [shingles(row[column]) for row in rows]
    want = [not any(len(s & k) >= 0.6 * len(s | k) for k in known) for s in sets]
    assert 20 < sum(want) < 140
    paths, pq = [], pytest.importorskip("pyarrow.parquet")
    for i in range(4):
        part = texts[40 * i : 40 * i + 40]
        paths.append(tmp_path / f"shard-{i}.parquet")
        pq.write_table(pa.table({"content": part, "meta": [{"n": n} for n in range(40)]}), paths[-1], row_group_size=9)
        (tmp_path / f"shard-{i}.jsonl").write_text("".join(json.dumps({"content": t, "url": f"u{n}"}) + "\n" for n, t in enumerate(part)))
    layouts = (str(tmp_path / "shard-*.parquet"), str(tmp_path / "shard-*.jsonl"), pa.table({"content": texts}), ({"content": t, "n": n} for n, t in enumerate(texts)))
    for layout in layouts:
        mask, audit = simdb.decontaminate(layout, pa.Table.from_pylist(rows), text="content", against_text=column, jaccard=0.6)
        assert list(mask) == want
        assert all(len(sets[row["row"]] & known[row["keeper_row"]]) >= 0.6 * len(sets[row["row"]] | known[row["keeper_row"]]) for row in audit)
    for form in ([{**row} for row in rows], pa.Table.from_pylist(rows).to_reader()):
        assert list(simdb.decontaminate(texts, form, against_text=column, jaccard=0.6).mask) == want
