"""Measures dedup of a Parquet file from Arrow to mask, beside other programs that are installed.

    GOMAXPROCS=1 python bench.py FILE.parquet [jaccard=0.8 | near=3 | rensa | datasketch | text_dedup ...]

Each runs in a process of its own. MB/s is bytes of text a second of processor time; memory is the
highest resident size less that with the table read. Each program makes shingles as its users do.
"""

import json
import resource
import subprocess
import sys
import time


def shingles(text):
    words = text.split(" ")
    return {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))}


def with_rensa(texts):
    from rensa import RMinHash, RMinHashDeduplicator

    found = RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True, num_bands=16)
    keep = []
    for n, text in enumerate(texts):
        sketch = RMinHash(num_perm=128, seed=42)
        sketch.update(list(shingles(text)))
        keep.append(found.add(str(n), sketch))
    return keep


def with_gaoya(texts):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, 0.8, 20, 6, num_hashes=120, analyzer="word", ngram_range=(3, 3), lowercase=False)
    keep = []
    for n, text in enumerate(texts):
        keep.append(not index.query(text))
        if keep[-1]:
            index.insert_document(n, text)
    return keep


def with_datasketch(texts):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.8, num_perm=128)
    keep = []
    for n, text in enumerate(texts):
        sketch = MinHash(num_perm=128)
        sketch.update_batch([s.encode() for s in shingles(text)])
        keep.append(not index.query(sketch))
        if keep[-1]:
            index.insert(str(n), sketch)
    return keep


def with_text_dedup(texts):
    """Its own command, which reads the file itself."""
    import os
    import tempfile

    import datasets

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "text_dedup.minhash", "--path", "parquet", "--data_files", sys.argv[1], "--split", "train",
             "--column", "text", "--ngram", "3", "--min_length", "1", "--threshold", "0.8", "--num_perm", "128", "--num_proc", "1",
             "--cache_dir", os.path.join(folder, "cache"), "--output", os.path.join(folder, "kept")],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HF_HOME": folder, "HF_HUB_OFFLINE": "1"},
        )
        kept = set(datasets.load_from_disk(os.path.join(folder, "kept"))["id"])
    return [str(n) in kept for n in range(len(texts))]


def peak():
    with open("/proc/self/status") as f:
        return [int(line.split()[1]) for line in f if line.startswith("VmHWM:")][0] << 10


def one(path, how):
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path, columns=["text"])
    size = sum(chunk.buffers()[2].size for chunk in table["text"].chunks)
    name, _, value = how.partition("=")
    texts = table["text"].to_pylist() if "with_" + name in globals() else None
    before, start, cpu = peak(), time.perf_counter(), time.process_time()
    if texts is not None:
        keep = globals()["with_" + name](texts)
    else:
        import simdb

        keep, _ = simdb.dedup(table, memory="256MiB", **{name: float(value) if name != "near" else int(value)})
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent, cpu = time.perf_counter() - start, time.process_time() - cpu + children.ru_utime + children.ru_stime
    kept = sum(keep)
    row = {"how": how, "rows": len(table), "MB": round(size / 1e6), "seconds": round(spent, 2), "cpu": round(cpu, 2),
           "MB/s a core": round(size / 1e6 / cpu, 1), "memory MB": round((peak() - before) / 1e6), "kept": kept}
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        one(*sys.argv[1:])
    else:
        for how in sys.argv[2:] or ["jaccard=0.8", "near=3"]:
            subprocess.run([sys.executable, __file__, sys.argv[1], how], check=True)
