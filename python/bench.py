"""Measures simdb.dedup of a Parquet file, from Arrow to the mask.

    GOMAXPROCS=1 python bench.py FILE.parquet [jaccard=0.8 near=3 ...]

Each runs in a process of its own, which reads the table first. MB/s is bytes of text a second of
processor time; memory is the highest resident size less that with the table read. Other programs
are compared by ../bench, with their answers.
"""

import json
import subprocess
import sys
import time


def peak():
    with open("/proc/self/status") as f:
        return [int(line.split()[1]) for line in f if line.startswith("VmHWM:")][0] << 10


def one(path, how):
    import pyarrow.parquet
    import simdb

    table = pyarrow.parquet.read_table(path, columns=["text"])
    size = sum(chunk.buffers()[2].size for chunk in table["text"].chunks)
    name, _, value = how.partition("=")
    before, start, cpu = peak(), time.perf_counter(), time.process_time()
    mask, _ = simdb.dedup(table, memory="256MiB", **{name: value})
    spent, cpu = time.perf_counter() - start, time.process_time() - cpu
    row = {"how": how, "rows": len(table), "MB": round(size / 1e6), "seconds": round(spent, 2), "cpu": round(cpu, 2),
           "MB/s a core": round(size / 1e6 / cpu, 1), "memory MB": round((peak() - before) / 1e6), "kept": sum(mask)}
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        one(*sys.argv[1:])
    else:
        for how in sys.argv[2:] or ["jaccard=0.8", "near=3"]:
            subprocess.run([sys.executable, __file__, sys.argv[1], how], check=True)
