"""Tests of what goes in as documents: each kind gives the rows of the others, in memory that does not grow with streams."""

import json
import os
import random
import subprocess
import sys

import pytest

import simdb
from test_simdb import COMMAND, ROWS, TABLE, documents

pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")

TEXTS = [row["text"] for row in ROWS]
WANT = list(simdb.dedup(TABLE, keep="longest").mask)


class FakeDataset:
    """The protocol of datasets.Dataset, as far as it is used."""

    def __init__(self, table, arrow=False):
        self.table, self.arrow = table, arrow

    def __len__(self):
        return len(self.table)

    def with_format(self, kind):
        assert kind == "arrow"
        return FakeDataset(self.table, True)

    def __getitem__(self, key):
        assert self.arrow and key == slice(None)
        return self.table


class FakeIterable:
    """The protocol of datasets.IterableDataset."""

    def __iter__(self):
        return iter(ROWS)

    def with_format(self, kind):
        raise AssertionError


class OnlyArray:
    """An object that has only the Arrow C array interface."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


def write(folder, rows, name="rows.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def parts(folder, rows=ROWS):
    """Writes rows to several files of a folder, one in a folder below and one compressed."""
    import gzip

    pq = pytest.importorskip("pyarrow.parquet")
    write(folder, rows[:100], "a.jsonl")
    (folder / "b.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows[100:150]).encode()))
    pq.write_table(pa.Table.from_pylist(rows[150:301]), folder / "c.parquet")
    (folder / "d").mkdir()
    write(folder / "d", rows[301:], "e.jsonl")
    (folder / "README.txt").write_text("no documents\n")
    return folder


def dataset(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(TABLE, folder / "t.parquet", row_group_size=50)
    return parquet, pytest.importorskip("pyarrow.dataset").dataset(folder / "t.parquet")


def duck():
    return pytest.importorskip("duckdb").from_arrow(TABLE)


def pl():
    return pytest.importorskip("polars")


def pd():
    return pytest.importorskip("pandas")


# What has all columns, and what has only texts.
KINDS = {
    "pyarrow.Table": lambda _: TABLE,
    "pyarrow.RecordBatch": lambda _: TABLE.combine_chunks().to_batches()[0],
    "pyarrow.RecordBatchReader": lambda _: TABLE.to_reader(max_chunksize=33),
    "pyarrow.StructArray": lambda _: TABLE.to_struct_array(),
    "pyarrow.dataset": lambda folder: dataset(folder)[1],
    "pyarrow.dataset.Scanner": lambda folder: dataset(folder)[1].scanner(),
    "pyarrow.ParquetFile": lambda folder: dataset(folder)[0].ParquetFile(folder / "t.parquet"),
    "polars.DataFrame": lambda _: pl().from_arrow(TABLE),
    "polars.LazyFrame": lambda _: pl().from_arrow(TABLE).lazy(),
    "pandas.DataFrame": lambda _: TABLE.to_pandas(),
    "pandas.DataFrame of an index": lambda _: (pd(), TABLE.to_pandas().iloc[::-1].iloc[::-1])[1],
    "duckdb relation": lambda _: duck(),
    "Dataset": lambda _: FakeDataset(TABLE),
    "IterableDataset": lambda _: FakeIterable(),
    "capsule of an array": lambda _: OnlyArray(TABLE.combine_chunks().to_batches()[0]),
    "numpy structured": lambda _: np.array([(r["id"], r["text"], r["score"]) for r in ROWS], dtype=[("id", "O"), ("text", "O"), ("score", "i8")]),
    "Path": lambda folder: write(folder, ROWS),
    "str": lambda folder: str(write(folder, ROWS)),
    "list of paths": lambda folder: [write(folder, ROWS[:7], "0"), write(folder, ROWS[7:], "1")],
    "pattern": lambda folder: f"{parts(folder)}/**/*.{{jsonl,gz,parquet}}",
    "folder": parts,
    "list of dict": lambda _: ROWS,
    "generator of dict": lambda _: (row for row in ROWS),
    "dict of lists": lambda _: TABLE.to_pydict(),
    "dict of columns": lambda _: {name: TABLE[name] for name in TABLE.column_names},
}
COLUMNS = {
    "list of str": lambda: TEXTS,
    "tuple of str": lambda: tuple(TEXTS),
    "generator of str": lambda: (t for t in TEXTS),
    "pyarrow.ChunkedArray": lambda: TABLE["text"],
    "pyarrow.Array": lambda: TABLE["text"].combine_chunks(),
    "polars.Series": lambda: pl().Series("x", TEXTS),
    "pandas.Series": lambda: pd().Series(TEXTS, name="x"),
    "numpy": lambda: np.array(TEXTS, dtype=object),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_tables(tmp_path, kind):
    assert list(simdb.dedup(KINDS[kind](tmp_path), keep="longest").mask) == WANT
    for call in (simdb.fingerprints, lambda t: simdb.tune(t, sample=400)):
        (tmp_path / str(call)).mkdir()
        assert list(call(KINDS[kind](tmp_path / str(call)))) == list(call(TABLE))


@pytest.mark.parametrize("kind", COLUMNS)
def test_kinds_of_columns(tmp_path, kind):
    want = list(simdb.dedup(TABLE.drop_columns(["id", "score"]), keep="longest").mask)
    assert list(simdb.dedup(COLUMNS[kind](), keep="longest").mask) == want == WANT
    assert list(simdb.dedup(COLUMNS[kind](), text="body", keep="longest").mask) == want


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_in_databases(tmp_path, kind):
    (tmp_path / "in").mkdir()
    with simdb.open(tmp_path / "all") as whole, simdb.open(tmp_path / "db") as db:
        assert whole.add(TABLE) == len(ROWS)
        assert db.add(KINDS[kind](tmp_path / "in")) == len(ROWS) == len(db)
        for row in ROWS[::37]:
            assert {k: v for k, v in db.get(row["id"])["fields"].items() if v is not None} == {"score": row["score"]}
        (tmp_path / "again").mkdir()
        assert list(whole.join(KINDS[kind](tmp_path / "again"), jaccard=0.7)) == list(whole.join(TABLE, jaccard=0.7))


def test_rows_of_files_are_numbered_through(tmp_path):
    mask, audit = simdb.dedup(parts(tmp_path))
    assert list(mask) == list(simdb.dedup(ROWS).mask)
    for row in audit:
        assert ROWS[row["row"]]["id"] == row["id"] and ROWS[row["keeper_row"]]["id"] == row["keeper"] and row["keeper_file"] is None
    texts = [{"text": t} for t in TEXTS]
    (tmp_path / "texts").mkdir()
    assert list(simdb.dedup(parts(tmp_path / "texts", texts)).audit) == list(simdb.dedup(texts).audit)
    apart = simdb.dedup(sorted(tmp_path.glob("[ac].*")), across="file")
    assert 0 < len(apart.audit) and all((row["row"] < 100) != (row["keeper_row"] < 100) for row in apart.audit)


def test_wrong_kinds(tmp_path):
    for wrong, said in (
        ({"train": FakeDataset(TABLE), "test": FakeDataset(TABLE)}, r'splits train, test: .*dataset\[.train.\]'),
        (5, "not int"), (b"text", "not bytes"), ([1.5, 2], "row 0 is neither a text, a fingerprint nor a dictionary, but float"), (None, "not NoneType"),
        (np.zeros((2, 2)), "shape"), (["a", b"b"], "row 1 .* but bytes"),
    ):
        with pytest.raises(TypeError, match=said):
            simdb.dedup(wrong)
    with pytest.raises(simdb.SimdbError, match="no such file"):
        simdb.dedup(str(tmp_path / "none.jsonl"))
    with pytest.raises(simdb.SimdbError, match="no file matches"):
        simdb.dedup(str(tmp_path / "*.jsonl"))
    with pytest.raises(ValueError, match="no file in this folder ends in .jsonl"):
        simdb.dedup(tmp_path)
    simdb.open(tmp_path / "db").close()
    with pytest.raises(TypeError, match="is a database"):
        simdb.dedup(tmp_path / "db")
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "a"}\n{"text": \n')
    with pytest.raises(simdb.SimdbError, match="broken.jsonl:2"):
        simdb.dedup(broken)
    with pytest.raises(simdb.SimdbError, match='there is no column "body".*"score"'):
        simdb.dedup(TABLE.to_reader(), text="body")
    (tmp_path / "temporary").mkdir()
    with pytest.raises(ZeroDivisionError):
        simdb.dedup(({"text": "x" * 2_000_000 + str(1 // (3 - n))} for n in range(5)), temp_dir=str(tmp_path / "temporary"))
    assert not list((tmp_path / "temporary").iterdir())


def test_names_of_arguments(tmp_path):
    """The same name has one meaning in every call."""
    table = TABLE.rename_columns(["key", "body", "score"])
    with simdb.open(tmp_path / "db") as db:
        assert db.add(table, text="body", id="key") == len(ROWS) and db.get("d7")["text"] == TEXTS[7]
        assert db.join(table, text="body", id="key", jaccard=0.9)["query"][0] == "d0"
        assert not any(db.put_novel(table, text="body", id="key", near=0)["stored"])
        assert list(simdb.dedup(table, text="body", id="key").mask) == list(simdb.dedup(TABLE).mask)
        for call in (lambda **k: db.add(table, **k), lambda **k: db.join(table, jaccard=0.8, **k), lambda **k: simdb.dedup(table, **k), lambda **k: simdb.tune(table, **k)):
            for wrong, meant in (("column_id", "id"), ("text_column", "text"), ("id_column", "id"), ("txt", "text")):
                with pytest.raises(TypeError, match=f"unknown keyword {wrong}, did you mean {meant}"):
                    call(**{wrong: "body"})
        with pytest.raises(TypeError, match="did you mean jaccard"):
            simdb.dedup(TABLE, threshold=0.8)
        with pytest.raises(TypeError, match="did you mean jaccard"):
            db.join(TABLE, threshold=0.8)
    assert simdb.__version__ == simdb.version()
    with pytest.raises(AttributeError, match="no attribute 'dedupe'"):
        simdb.dedupe


HASHES = [0x9F3C5A0011223344, 0x9F3C5A0011223345, 0xFFFF5A0011223344, 0x9F3C5A00112233FF]


@pytest.mark.parametrize("kind", ["int", "hex", "0x", "wide", "series", "polars", "arrow", "numpy", "generator"])
def test_lists_of_fingerprints(kind):
    """Fingerprints without a name are compared as such: numbers always, hexadecimal digits with near=."""
    digits = [f"{h:016x}" for h in HASHES]
    forms = {
        "int": lambda: HASHES, "hex": lambda: digits, "0x": lambda: ["0x" + d for d in digits], "wide": lambda: [d + "0" * 48 for d in digits],
        "series": lambda: pytest.importorskip("pandas").Series(digits), "polars": lambda: pytest.importorskip("polars").Series(digits),
        "arrow": lambda: pa.array(digits), "numpy": lambda: np.array(digits), "generator": lambda: iter(digits),
    }
    assert simdb.dedup(forms[kind](), near=1).kept == [0, 2, 3]
    if kind == "hex":
        assert simdb.decontaminate(digits, {"fingerprint": digits[1:2]}, near=1).kept == [2, 3]
        assert len(simdb.dedup(digits).kept) == 4  # texts of one word
        assert simdb.dedup([*digits, digits[0]], "text", near=0).kept == [0, 1, 2, 3]


def test_texts_in_place_of_paths(tmp_path):
    """A text where a path is expected says how texts are given."""
    texts = ["one two three four five", "six seven eight nine ten"]
    for call in (lambda: simdb.dedup(texts[0]), lambda: simdb.decontaminate(texts, texts[:1]), lambda: simdb.dedup(texts, against=texts[0])):
        with pytest.raises(TypeError, match="'text'"):
            call()
    assert simdb.decontaminate(texts, {"text": texts[:1]}).kept == [1]
    path = tmp_path / "a name of many words.jsonl"
    path.write_text('{"text": "one two three four five"}\n')
    assert simdb.decontaminate(texts, str(path)).kept == [1] and simdb.dedup(str(path)).kept == simdb.dedup(str(tmp_path / "a name of many *.jsonl")).kept == [0]


# What a random case gives the command, and how Python gives the same.
CHOICES = [
    {}, {"jaccard": 0.5}, {"jaccard": 0.7}, {"jaccard": 0.95}, {"near": 0}, {"near": 3}, {"near": 9}, {"near": 12, "verify": 0.4}, {"levenshtein": 0.8},
    {"cosine": 0.7}, {"within": 0.6}, {"seen": 0.5},
]
OTHERS = [
    {}, {"keep": "longest"}, {"keep": "last"}, {"keep": "max:score"}, {"keep": "min:score,longest"}, {"min_words": 8}, {"shingle": "words:2"},
    {"shingle": "chars:4"}, {"fold": "case,accents"}, {"mask": "numbers"}, {"text": "text,id"}, {"agree": "numbers"},
]
CASES = int(os.environ.get("SIMDB_CASES", 20))


@pytest.mark.parametrize("case", range(CASES))
def test_random_cases_are_those_of_the_command(tmp_path, case):
    r = random.Random(int(os.environ.get("SIMDB_SEED", 1)) + case)
    rows = documents(r.choice([50, 120, 300]), seed=r.random(), words=r.choice([6, 20, 80]))
    options = {**r.choice(CHOICES), **r.choice(OTHERS)}
    if "seen" in options:
        options.pop("keep", None)
        options.pop("agree", None)
    if r.random() < 0.3:
        held = documents(60, seed=r.random(), words=20) + r.sample(rows, 10)
        options["against"] = write(tmp_path, [{**row, "id": f"h{n}"} for n, row in enumerate(held)], "held.jsonl")
        options["only_against"] = "keep" not in options and r.random() < 0.5
    flags = ["--only-against" if name == "only_against" else f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not False]
    flags = [f.replace("--text=", "--text-field=") for f in flags]
    path, out = write(tmp_path, rows, "in.jsonl"), tmp_path / "out.jsonl"
    done = subprocess.run([COMMAND, "dedup", path, "-o", out, "--no-audit", "-q", *flags], stderr=subprocess.PIPE)
    if done.returncode:  # the options contradict each other
        assert b"cannot be used with" in done.stderr
        with pytest.raises(simdb.SimdbError, match="cannot be used with"):
            simdb.dedup(rows, **options)
        return
    want = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    table = pa.Table.from_pylist(rows)
    for form in (table, table.to_reader(max_chunksize=29), path, iter(rows)):
        assert [rows[n]["id"] for n in simdb.dedup(form, **options).kept] == want, (options, type(form))


GROWS = """
import resource, sys
import simdb

def rows(n):
    for i in range(n):
        yield {"text": " ".join(f"w{(i * 7919 + k * k) % 100003}" for k in range(n % 7 + 150))}

n, kind = int(sys.argv[1]), sys.argv[2]
if kind == "reader":
    import pyarrow as pa
    schema = pa.schema([("text", pa.string())])
    def batches():
        batch = []
        for row in rows(n):
            batch.append(row)
            if len(batch) == 1000:
                yield pa.RecordBatch.from_pylist(batch, schema=schema)
                batch = []
    what = pa.RecordBatchReader.from_batches(schema, batches())
else:
    what = rows(n)
prints = simdb.fingerprints(what)
assert len(prints) == n
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


@pytest.mark.parametrize("kind", ["reader", "generator"])
def test_streams_need_no_memory(kind):
    """A stream of 36 MB needs hardly more memory than one of 7 MB."""
    small, large = (int(subprocess.run([sys.executable, "-c", GROWS, str(n), kind], check=True, capture_output=True).stdout) for n in (8000, 40000))
    assert large < small + 18, (small, large)
