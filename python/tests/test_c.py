"""The header of the shared library: it compiles as C and C++, and agrees with the library."""

import ctypes
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
