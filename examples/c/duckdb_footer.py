"""Makes an extension that DuckDB loads of a shared library: appends what DuckDB reads at its end.

    python duckdb_footer.py LIBRARY simdb.duckdb_extension
"""

import sys

import duckdb


def footer(platform, version):
    """Returns a custom section of WebAssembly with eight fields of 32 bytes, and the place of a signature."""
    fields = ["", "", "", "C_STRUCT", version, "v1.2.0", platform, "4"]  # the fourth from the end is the version of the C API
    head = b"\x00\x93\x04\x10duckdb_signature\x80\x04"
    return head + b"".join(f.encode().ljust(32, b"\x00") for f in fields) + bytes(256)


if __name__ == "__main__":
    library, extension = sys.argv[1:]
    platform = duckdb.sql("PRAGMA platform").fetchall()[0][0]
    with open(library, "rb") as f, open(extension, "wb") as to:
        to.write(f.read() + footer(platform, "v0.2.0"))
