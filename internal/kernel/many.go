package kernel

import "math/bits"

// Many queries and many keys are compared in tiles of tileQueries queries and tileKeys keys.
const (
	tileQueries = 4
	tileKeys    = 8
)

// ScanMany appends to dst, as i<<32 | j, every pair of a query i and a key j that differ in at most k
// bits. Pairs come by tiles of four queries and eight keys, the queries changing last: first those of
// queries 0..3 and keys 0..7, by query and then by key, then those of the same queries and keys 8..15,
// and so on. There must be less than 1<<32 of either. Room for at least 32,768 pairs is made before
// their number is known.
func ScanMany(dst, queries, keys []uint64, k int) []uint64 {
	if len(queries) == 0 || len(keys) == 0 || k < 0 {
		return dst
	}
	if active == pureGo {
		return scanManyGo(dst, queries, keys, k)
	}
	return scanManyAsm(dst, queries, keys, k)
}

func scanManyGo(dst, queries, keys []uint64, k int) []uint64 {
	for q := 0; q < len(queries); q += tileQueries {
		row := queries[q:min(q+tileQueries, len(queries))]
		for j := 0; j < len(keys); j += tileKeys {
			dst = scanTileGo(dst, row, q, keys[j:min(j+tileKeys, len(keys))], j, k)
		}
	}
	return dst
}

// scanTileGo compares one tile: queries from number q on, keys from number j on.
func scanTileGo(dst, queries []uint64, q int, keys []uint64, j, k int) []uint64 {
	for _, query := range queries {
		for i, key := range keys {
			if bits.OnesCount64(query^key) <= k {
				dst = append(dst, uint64(q)<<32|uint64(j+i))
			}
		}
		q++
	}
	return dst
}
