import common
import pyarrow
import simdb

table = pyarrow.Table.from_pylist([{"id": n, "text": text} for n, text in common.documents()])
mask, _ = simdb.dedup(table, jaccard=common.threshold)
common.write(n for n, keep in zip(table["id"].to_pylist(), mask) if keep)
