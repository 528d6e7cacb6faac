import common
import duckdb

# An exact join by prefixes: the rarest shingles of two similar sets have one in common.
db = duckdb.connect()
db.execute("SET threads = 1")
db.execute(
    """
    CREATE TABLE docs AS SELECT id, string_split(text, ' ') AS words FROM read_json(?, columns = {id: 'BIGINT', text: 'VARCHAR'}, maximum_object_size = 100000000);
    """,
    [common.source],
)
db.execute(
    f"""
    CREATE TABLE runs AS SELECT id, place, n, hash(word, lead(word, 1) OVER w, lead(word, 2) OVER w) AS shingle
        FROM (SELECT id, len(words) AS n, unnest(words) AS word, generate_subscripts(words, 1) AS place FROM docs)
        WINDOW w AS (PARTITION BY id ORDER BY place);
    CREATE TABLE sets AS SELECT DISTINCT id, shingle FROM runs WHERE place <= greatest(1, n - 2);
    CREATE TABLE sizes AS SELECT id, count(*) AS size FROM sets GROUP BY id;
    CREATE TABLE common AS SELECT shingle, count(*) AS n FROM sets GROUP BY shingle;
    CREATE TABLE ranked AS SELECT s.id, s.shingle, z.size, row_number() OVER (PARTITION BY s.id ORDER BY c.n, s.shingle) AS place
        FROM sets s JOIN common c USING (shingle) JOIN sizes z USING (id);
    CREATE TABLE prefixes AS SELECT id, shingle, size FROM ranked WHERE place <= size - ceil({common.threshold} * size) + 1;
    CREATE TABLE candidates AS SELECT DISTINCT a.id AS a, b.id AS b, a.size AS m, b.size AS n FROM prefixes a JOIN prefixes b
        ON a.shingle = b.shingle AND a.id < b.id AND b.size >= {common.threshold} * a.size AND a.size >= {common.threshold} * b.size;
    CREATE TABLE pairs AS SELECT a, b FROM candidates JOIN sets x ON x.id = a JOIN sets y ON y.id = b AND y.shingle = x.shingle
        GROUP BY a, b, m, n HAVING count(*) >= {common.threshold} * (m + n - count(*));
    """
)
earlier = {}
for a, b in db.execute("SELECT a, b FROM pairs").fetchall():
    earlier.setdefault(b, []).append(a)
dropped, kept = set(), []
for (n,) in db.execute("SELECT id FROM docs ORDER BY id").fetchall():
    if any(a not in dropped for a in earlier.get(n, ())):
        dropped.add(n)
    else:
        kept.append(n)
common.write(kept)
