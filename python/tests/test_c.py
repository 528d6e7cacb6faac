"""The header of the shared library: it compiles as C and C++, and agrees with the library."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import simdb

ROOT = pathlib.Path(__file__).parents[2]
HEADER = pathlib.Path(simdb.get_include()) / "simdb.h"
FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
cc = shutil.which("cc")
needs_cc = pytest.mark.skipif(cc is None or sys.platform == "win32", reason="no C compiler")


def test_header_of_the_package():
    assert HEADER.read_text() == (ROOT / "cmd/simdb/simdb.h").read_text()


def test_functions_are_in_the_library():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    names = re.findall(r"\b(simdb_\w+)\(", text)
    assert len(names) == 10
    library = ctypes.CDLL(simdb._library._PATH)
    for name in names:
        getattr(library, name)


@needs_cc
def test_example(tmp_path):
    subprocess.run([cc, "-std=c11", *FLAGS, "-I", HEADER.parent, ROOT / "examples/c/near.c", simdb._library._PATH, "-o", tmp_path / "near"], check=True)
    near = [tmp_path / "near", tmp_path / "corpus.simdb"]
    folder = {"LD_LIBRARY_PATH": str(HEADER.parent), "DYLD_LIBRARY_PATH": str(HEADER.parent)}
    done = subprocess.run(near, check=True, capture_output=True, text=True, env=folder)
    assert done.stdout == "a 1.000\nb 0.750\n" and done.stderr == ""
    (tmp_path / "file").write_text("x")
    failed = subprocess.run([near[0], tmp_path / "file"], capture_output=True, text=True, env=folder)
    assert failed.returncode == 1 and failed.stderr.startswith('{"error"') and '"kind":"not_database"' in failed.stderr


@needs_cc
def test_header_as_cpp(tmp_path):
    (tmp_path / "use.cc").write_text('#include "simdb.h"\nconst char *version() { return simdb_version(); }\n')
    done = subprocess.run([cc, *FLAGS, "-I", HEADER.parent, "-fsyntax-only", tmp_path / "use.cc"], capture_output=True, text=True)
    if "cc1plus" in done.stderr:
        pytest.skip("no C++ compiler")
    assert done.returncode == 0, done.stderr


@needs_cc
def test_duckdb_extension(tmp_path):
    """With DUCKDB_INCLUDE, the folder of duckdb_extension.h, which no package has."""
    duckdb = pytest.importorskip("duckdb")
    include = os.environ.get("DUCKDB_INCLUDE")
    if not include:
        pytest.skip("DUCKDB_INCLUDE is not set")
    built, extension = tmp_path / "built.so", tmp_path / "simdb.duckdb_extension"
    with_rpath = [simdb._library._PATH, f"-Wl,-rpath,{HEADER.parent}"]
    source = ROOT / "examples/c/duckdb_simdb.c"
    subprocess.run([cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", include, "-I", HEADER.parent, source, *with_rpath, "-o", built], check=True)
    subprocess.run([sys.executable, ROOT / "examples/c/duckdb_footer.py", built, extension], check=True)
    texts = [f"text number {i // 2} of some words about {i // 2} things" for i in range(6000)]  # more than one chunk
    with simdb.open(tmp_path / 'a "b" \\ c.simdb') as db:
        db.add([{"id": str(i), "text": t, "n": i, "x": i / 2, "even": i % 2 == 0} for i, t in enumerate(texts)])
    sql = duckdb.connect(config={"allow_unsigned_extensions": True})
    sql.execute(f"LOAD '{extension}'")
    at = str(tmp_path / 'a "b" \\ c.simdb')
    rows = sql.execute("SELECT id, n, x, even, time > '2020-01-01' FROM simdb_query(?, 'n < 4000 SHOW *')", [at]).fetchall()
    assert sorted(rows, key=lambda r: r[1]) == [(str(i), i, i / 2, i % 2 == 0, True) for i in range(4000)]
    assert sql.execute("SELECT id, score FROM simdb_query(?, 'JACCARD(''7'', 0.9)')", [at]).fetchall() == [("6", 1.0)]
    path = tmp_path / "rows.parquet"
    sql.execute(f"COPY (SELECT * FROM simdb_query('{at}', 'SHOW id, text') ORDER BY id::INT) TO '{path}'")
    dropped = sql.execute("SELECT row, keeper_row, distance FROM simdb_dedup(?, '{\"jaccard\": 0.9}')", [str(path)]).fetchall()
    assert dropped == [(i, i - 1, None) for i in range(1, 6000, 2)]
    for wrong, message in {
        "simdb_query('none.simdb', 'COUNT')": "no such database", f"simdb_query('{at}', 'NEAR(')": '"kind":"parse"', "simdb_query(NULL, 'COUNT')": "error",
        f"simdb_dedup('{path}', '{{\"jacard\": 1}}')": "did you mean jaccard", f"simdb_query('{at}', NULL)": "error",
    }.items():
        with pytest.raises(duckdb.Error, match=message):
            sql.execute(f"FROM {wrong}")
