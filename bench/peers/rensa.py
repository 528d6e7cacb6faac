import common
from rensa import RMinHash, RMinHashDeduplicator

found = RMinHashDeduplicator(threshold=common.threshold, num_perm=128, use_lsh=True, num_bands=16)
kept = []
for n, text in common.documents():
    sketch = RMinHash(num_perm=128, seed=42)
    sketch.update(list(common.shingles(text)))
    if found.add(str(n), sketch):
        kept.append(n)
common.write(kept)
