"""Builds the wheel: a PEP 517 backend without dependencies.

    pip install ./python            needs Go and a C compiler
    pip wheel ./python -w dist      the wheel alone

The wheel has the shared library, for any Python 3, and no other compiled part. On Linux its tag is
the manylinux one of the newest glibc symbol that the library refers to: to lower that, compile with
zig, which has the symbols of all versions, and compiles for other systems, too:

    SIMDB_ZIG=2.17 pip wheel ./python -w dist
    SIMDB_ZIG=2.17 GOOS=windows GOARCH=amd64 pip wheel ./python -w dist

SIMDB_VERSION is the version, otherwise it is that of the last tag. SIMDB_LIBRARY is a library that
is there already, and is only packed. A source distribution has what the first line needs.
"""

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
NAMES = {"windows": "simdb.dll", "darwin": "libsimdb.dylib"}  # others: libsimdb.so
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}  # as zig and Linux have them
SOURCES = ["cmd", "compaction", "engine", "internal", "minhash", "query", "records", "dedup", "repl", "simhash", "sstable"]  # of Go
LEAST_MACOS = "12_0"  # of Go
EPOCH = (1980, 1, 1, 0, 0, 0)  # of files in the wheel: two builds are the same


def get_requires_for_build_wheel(config_settings=None):
    return ["ziglang"] if os.environ.get("SIMDB_ZIG") else []


def version():
    """Returns the version, as PEP 440 has it."""
    v = os.environ.get("SIMDB_VERSION")
    if not v and os.path.exists(os.path.join(ROOT, "PKG-INFO")):  # of a source distribution
        return re.search(rb"^Version: (.*)$", read(os.path.join(ROOT, "PKG-INFO")), re.M)[1].decode()
    if not v:
        git = ["git", "-C", ROOT, "describe", "--tags", "--match", "v*"]
        v = subprocess.run(git, capture_output=True, text=True).stdout.strip() or "v0.2.0-0-g0"
    m = re.fullmatch(r"v?(\d+\.\d+\.\d+)(?:-(rc)\.?(\d+))?(?:-(\d+)-g([0-9a-f]+))?", v)
    if not m:
        raise SystemExit(f"{v!r} is no version")
    return m[1] + (m[2] or "") + (m[3] or "") + (f".post{m[4]}+g{m[5]}" if m[4] else "")


def commit():
    """Returns the commit of the sources, and whether they differ from it; "" without git."""
    if os.path.exists(os.path.join(ROOT, "PKG-INFO")):  # of a source distribution, which may lie in another repository
        return read(os.path.join(ROOT, "COMMIT")).decode()
    git = ["git", "-C", ROOT]
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    changes = head and subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True).stdout
    return head + ("+modified" if changes else "")


def compile_library(path):
    """Compiles the shared library."""
    env = {**os.environ, "CGO_ENABLED": "1"}
    if env.get("SIMDB_ZIG"):
        system, machine = target()
        abi = {"windows": "windows-gnu", "darwin": "macos"}.get(system, "linux-gnu." + env["SIMDB_ZIG"])
        env["CC"] = f"{sys.executable} -m ziglang cc -target {MACHINES[machine]}-{abi}"
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-tags=simdb_library,netgo,osusergo"]
    package = "github.com/simdb/simdb/internal/version"
    command += [f"-ldflags=-s -w -X {package}.release=v{version()} -X {package}.commit={commit()}", "-o", path, "./cmd/simdb"]
    subprocess.run(command, cwd=ROOT, env=env, check=True)


def target():
    """Returns the system and the architecture that Go compiles for."""
    return subprocess.run(["go", "env", "GOOS", "GOARCH"], capture_output=True, text=True, check=True).stdout.split()


def platform_tag(library):
    """Returns the tag of the wheel."""
    system, machine = target()
    if system == "windows":
        return f"win_{machine}"
    if system == "darwin":
        return f"macosx_{LEAST_MACOS}_{'arm64' if machine == 'arm64' else 'x86_64'}"
    newest = max((int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", read(library)))
    return "manylinux_{}_{}_{}".format(*max(newest, (2, 17)), MACHINES[machine])


def metadata():
    """Returns the files of the dist-info folder."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    return {
        "METADATA": (
            f"Metadata-Version: 2.4\nName: simdb\nVersion: {version()}\n"
            "Summary: Near-duplicates of texts: dedup of tables, and an embedded database\n"
            "License-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.9\n"
            "Description-Content-Type: text/markdown\n\n" + readme
        ),
        "entry_points.txt": "[console_scripts]\nsimdb = simdb._library:main\n",
    }


def wheel_text(tag):
    return f"Wheel-Version: 1.0\nGenerator: simdb\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"


def dist_info():
    return f"simdb-{version()}.dist-info"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = os.path.join(metadata_directory, dist_info())
    os.mkdir(folder)
    for name, text in metadata().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    return dist_info()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        name = NAMES.get(target()[0], "libsimdb.so")
        library = os.path.join(folder, name)
        if os.environ.get("SIMDB_LIBRARY"):
            shutil.copy(os.environ["SIMDB_LIBRARY"], library)
        else:
            compile_library(library)
        tag = platform_tag(library)
        files = {f"simdb/{name}": read(library), "simdb/simdb.h": read(os.path.join(ROOT, "cmd", "simdb", "simdb.h"))}
        for name in sorted(os.listdir(os.path.join(HERE, "src", "simdb"))):
            if name.endswith((".py", ".typed")):
                files[f"simdb/{name}"] = read(os.path.join(HERE, "src", "simdb", name))
    for name, text in {**metadata(), "WHEEL": wheel_text(tag)}.items():
        files[f"{dist_info()}/{name}"] = text.encode()
    files[f"{dist_info()}/licenses/LICENSE"] = read(os.path.join(ROOT, "LICENSE"))
    name = f"simdb-{version()}-py3-none-{tag}.whl"
    pack(os.path.join(wheel_directory, name), files)
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    raise SystemExit("simdb has a compiled part: pip install without -e")


def build_sdist(sdist_directory, config_settings=None):
    """Packs python/ and what Go compiles of the repository."""
    packed = ["go.mod", "go.sum", "LICENSE", "python", *SOURCES, ":!*_test.go", ":!*/testdata/*"]
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", *packed], capture_output=True, text=True, check=True).stdout
    files = {name: read(os.path.join(ROOT, name)) for name in listed.split("\0") if name}
    # pip looks for these two in the root.
    files["pyproject.toml"] = files["python/pyproject.toml"].replace(b'["."]', b'["python"]').replace(b'"README', b'"python/README')
    files["COMMIT"] = commit().encode()
    files["PKG-INFO"] = metadata()["METADATA"].encode()
    name = f"simdb-{version()}"
    with gzip.GzipFile(os.path.join(sdist_directory, name + ".tar.gz"), "wb", mtime=0) as z, tarfile.open(fileobj=z, mode="w") as t:
        for path, data in sorted(files.items()):
            info = tarfile.TarInfo(f"{name}/{path}")
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return name + ".tar.gz"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def pack(path, files):
    """Writes a wheel: the files, and the list of their digests."""
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        def add(name, data):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o755 if name.endswith((".so", ".dll", ".dylib")) else 0o644) << 16
            z.writestr(info, data)

        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            add(name, data)
        listed = f"{dist_info()}/RECORD"
        add(listed, (record + f"{listed},,\n").encode())
