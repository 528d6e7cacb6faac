import common
from datasketch import MinHash, MinHashLSH

index = MinHashLSH(threshold=common.threshold, num_perm=128)
kept = []
for n, text in common.documents():
    sketch = MinHash(num_perm=128)
    sketch.update_batch([s.encode() for s in common.shingles(text)])
    if not index.query(sketch):
        index.insert(n, sketch)
        kept.append(n)
common.write(kept)
