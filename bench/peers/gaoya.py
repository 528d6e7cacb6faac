import common
import gaoya.minhash

# 16 bands of 8 hashes; a document is kept if the index has none like it.
index = gaoya.minhash.MinHashStringIndex(32, common.threshold, 16, 8, None, "word", True, (common.WIDTH, common.WIDTH))
kept = []
for n, text in common.documents():
    if not index.query(text):
        index.insert_document(n, text)
        kept.append(n)
common.write(kept)
