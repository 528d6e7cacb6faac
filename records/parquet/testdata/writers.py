"""Files of other programs, and what those programs say of their copies.

    python3 writers.py make DIR     writes files with columns of every type, in many ways
    python3 writers.py check DIR    compares DIR/copies with the rows of DIR that were to be copied

It needs pyarrow, DuckDB and pandas; polars is used if it is there.
"""
import datetime, decimal, glob, math, os, sys, uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

try:
    import polars
except ImportError:
    polars = None

ROWS = 30
DECIMAL = decimal.Decimal


def copied(row):
    """Whether the test copies a row, counted from 0."""
    return row % 3 != 1


def column(f, kind=None):
    return pa.array([None if i % 7 == 3 else f(i) for i in range(ROWS)], kind)


def columns():
    inner = pa.struct([("c", pa.string()), ("d", pa.list_(pa.bool_()))])
    return {
        "id": pa.array([f"d{i}" for i in range(ROWS)]),
        "text": column(lambda i: f"the text of row {i}"),
        "bool": column(lambda i: i % 2 == 0),
        "required": pa.array([i % 3 == 0 for i in range(ROWS)]),
        "runs": column(lambda i: i > 11 or i == 5),
        "i8": column(lambda i: i - 20, pa.int8()),
        "i32": column(lambda i: i * 10**6 - 10**7, pa.int32()),
        "i64": column(lambda i: i * 10**15 - 10**16, pa.int64()),
        "u16": column(lambda i: 65535 - i, pa.uint16()),
        "u32": column(lambda i: 2**31 + i - 15, pa.uint32()),
        "u64": column(lambda i: 2**64 - 1 - i if i % 2 else i, pa.uint64()),
        "f16": pa.array([None if i % 7 == 3 else i - 20 for i in range(ROWS)], pa.float32()).cast(pa.float16()),
        "f32": column(lambda i: [math.nan, math.inf, -0.0, i / 3][i % 4], pa.float32()),
        "f64": column(lambda i: [math.nan, -math.inf, 0.0, -i / 3][i % 4]),
        "binary": column(lambda i: bytes([255 - i, 0, i]), pa.binary()),
        "fixed": column(lambda i: bytes([255 - i] * 5), pa.binary(5)),
        "large": column(lambda i: f"ü{i}" * i, pa.large_string()),
        "view": column(lambda i: f"view {i}, too long for a word", pa.string_view()),
        "category": column(lambda i: f"c{i % 4}").dictionary_encode(),
        "null": pa.nulls(ROWS),
        "decimal5": column(lambda i: DECIMAL(i - 20) / 100, pa.decimal128(5, 2)),
        "decimal15": column(lambda i: DECIMAL(i - 20) / 1000, pa.decimal128(15, 3)),
        "decimal30": column(lambda i: DECIMAL(i - 20) * 10**18, pa.decimal128(30, 4)),
        "date": column(lambda i: datetime.date(1960 + i, 1, 1)),
        "ms": column(lambda i: i * 10**12 - 10**13, pa.timestamp("ms")),
        "us": column(lambda i: i * 10**12 - 10**13, pa.timestamp("us", "UTC")),
        "ns": column(lambda i: i * 10**15 - 10**16, pa.timestamp("ns", "Europe/Berlin")),
        "time": column(lambda i: i * 1000, pa.time32("ms")),
        "clock": column(lambda i: i * 10**6 + 1, pa.time64("us")),
        "duration": column(lambda i: i * 1000 + 5, pa.duration("us")),
        "list": column(lambda i: [[], [1, None, 3], None, [i]][i % 4], pa.list_(pa.int64())),
        "lists": column(lambda i: [["a", None] * (i % 3)], pa.large_list(pa.list_(pa.string()))),
        "pair": column(lambda i: [i, i + 1], pa.list_(pa.int32(), 2)),
        "struct": column(
            lambda i: {"a": i if i % 2 else None, "b": {"c": f"s{i}", "d": [True, None, False][: i % 4]}},
            pa.struct([("a", pa.int32()), ("b", inner)]),
        ),
        "map": column(lambda i: [(f"k{j}", j if j % 2 else None) for j in range(i % 4)], pa.map_(pa.string(), pa.int64())),
        "structs": column(lambda i: [{"x": 1.5 * i, "y": None}] * (i % 3), pa.list_(pa.struct([("x", pa.float64()), ("y", pa.null())]))),
        "uuid": pa.array([None if i % 7 == 3 else uuid.UUID(int=i << 96 | i).bytes for i in range(ROWS)], pa.uuid()),
        "with.dot": column(lambda i: i),
        "": column(lambda i: f"{i}"),
    }


def make(to):
    table = pa.table(columns()).replace_schema_metadata({"made": "by a test", "empty": ""})

    def write(name, t=table, **how):
        pq.write_table(t, f"{to}/{name}.parquet", **how)

    for version, page in (("1.0", "1.0"), ("2.4", "1.0"), ("2.6", "2.0")):
        write(f"plain-{version}", use_dictionary=False, version=version, data_page_version=page)
        write(f"dictionary-{version}", version=version, data_page_version=page, row_group_size=11)
        write(f"some-{version}", use_dictionary=["i32", "decimal30", "f64"], version=version, data_page_version=page)
    for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
        write(f"{codec}-1", compression=codec, row_group_size=13, data_page_size=100)
        write(f"{codec}-2", compression=codec, data_page_version="2.0", use_dictionary=False)
    write("pages", write_page_checksum=True, write_page_index=True, row_group_size=9, data_page_size=100)
    write("bare", write_statistics=False, store_schema=False, use_deprecated_int96_timestamps=True)
    write("int96", use_deprecated_int96_timestamps=True, use_dictionary=False)
    write("integers", store_decimal_as_integer=True)
    write("element", use_compliant_nested_type=False)
    write("nothing", table.slice(0, 0))
    delta = dict.fromkeys(["i8", "i32", "i64", "u16", "u32", "u64", "date", "us"], "DELTA_BINARY_PACKED")
    split = dict.fromkeys(["f16", "f32", "f64", "decimal30"], "BYTE_STREAM_SPLIT")
    strings = dict.fromkeys(["text", "binary", "fixed"], "DELTA_BYTE_ARRAY") | {"large": "DELTA_LENGTH_BYTE_ARRAY"}
    write("encodings", use_dictionary=False, column_encoding=delta | split | strings | {"bool": "RLE", "runs": "RLE"})
    write("split", use_dictionary=False, data_page_version="2.0", column_encoding=dict.fromkeys(["i32", "i64", "fixed"], "BYTE_STREAM_SPLIT"))
    with pq.ParquetWriter(f"{to}/groups.parquet", table.schema) as w:
        for begin, end in ((0, 0), (0, 10), (10, 10), (10, ROWS)):
            w.write_table(table.slice(begin, end - begin))
    twice = table.select(["id", "text", "i32", "large"]).rename_columns(["id", "text", "a", "a"])
    write("names", twice)

    simple = table.select([n for n in table.column_names if n not in ("f16", "view", "uuid", "null", "pair", "duration", "")])
    con = duckdb.connect()
    con.register("rows", simple)
    for codec in ("snappy", "zstd", "lz4_raw", "brotli", "gzip", "uncompressed"):
        con.execute(f"copy (select *, uuid() as key, 7::hugeint as huge, null as none, 'x'::blob as bytes from rows) to '{to}/duckdb-{codec}.parquet' (format parquet, codec '{codec}')")
    if polars:
        frame = polars.from_arrow(simple.drop_columns(["map"])).with_columns(polars.lit(None).alias("none"))
        for codec in ("lz4", "zstd", "snappy", "uncompressed"):
            frame.write_parquet(f"{to}/polars-{codec}.parquet", compression=codec, row_group_size=17)
    try:
        table.select(["id", "text", "null", "category", "us", "i64"]).to_pandas().set_index("i64").to_parquet(f"{to}/pandas.parquet")
    except ImportError:
        pass


def same(a, b):
    """Whether values are equal, NaN and the sign of zero included."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(a) == type(b) and a == b


def with_pyarrow(a, b):
    a, b = pq.ParquetFile(a), pq.ParquetFile(b)
    assert (a.metadata.metadata or {}) == (b.metadata.metadata or {}), "the key-value metadata differ"
    assert str(a.schema).split("\n", 1)[1] == str(b.schema).split("\n", 1)[1], f"the schema is {b.schema}"
    assert a.schema_arrow.equals(b.schema_arrow, check_metadata=True), f"the schema is {b.schema_arrow}"
    a, b = a.read(), b.read()
    b.validate(full=True)
    for i, name in enumerate(a.column_names):
        rows = [v for row, v in enumerate(a.column(i).to_pylist()) if copied(row)]
        assert same(rows, b.column(i).to_pylist()), f"column {name!r}: {b.column(i)}"


def with_duckdb(a, b):
    query = "select * from read_parquet(?)"
    try:
        rows = duckdb.execute(query, [a]).fetchall()
    except duckdb.Error:
        return  # an encoding that it does not know
    rows = [row for i, row in enumerate(rows) if copied(i)]
    assert same(rows, duckdb.execute(query, [b]).fetchall()), "the rows differ"
    assert duckdb.execute("describe " + query, [a]).fetchall() == duckdb.execute("describe " + query, [b]).fetchall()


def with_polars(a, b):
    try:
        a = polars.read_parquet(a)
    except Exception:
        return
    b = polars.read_parquet(b)
    a = a[[i for i in range(a.height) if copied(i)]]
    assert a.schema == b.schema, f"the schema is {b.schema}"
    for name in a.columns:
        assert same(a[name].to_list(), b[name].to_list()), f"column {name!r}"


def bounds_hide_nothing(_, b):
    """A search finds every value, whatever the bounds of the row groups say."""
    table = pq.ParquetFile(b).read()
    for name in ("i32", "u32", "u64", "f32", "f64", "decimal5", "decimal30", "date", "text", "large"):
        if name not in table.column_names:
            continue
        values = [v for v in table[name].to_pylist() if v is not None and v == v]
        kind = table.schema.field(name).type
        for v in values[:6]:
            want = sum(1 for x in values if x == v)
            found = pq.read_table(b, columns=[name], filters=[(name, "==", pa.scalar(v, kind))]).num_rows
            assert found == want, f"pyarrow finds {found} of {want} rows with {name} = {v!r}"
            found = duckdb.execute(f'select count(*) from read_parquet(?) where "{name}" = ?', [b, v]).fetchone()[0]
            assert found == want, f"DuckDB finds {found} of {want} rows with {name} = {v!r}"


def check(to):
    wrong = 0
    readers = [with_pyarrow, with_duckdb, bounds_hide_nothing] + ([with_polars] if polars else [])
    for a in sorted(glob.glob(f"{to}/*.parquet")):
        for reader in readers:
            try:
                reader(a, f"{to}/copies/{os.path.basename(a)}")
            except BaseException as e:  # polars panics
                print(f"{os.path.basename(a)} {reader.__name__}: {type(e).__name__} {str(e)[:600]}")
                wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit({"make": make, "check": check}[sys.argv[1]](sys.argv[2]))
