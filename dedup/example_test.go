package dedup_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
)

// All pairs of 64-bit fingerprints that differ in at most three bits.
func ExampleFingerprints() {
	hashes := []uint64{0xf0f0, 0x1234, 0xf0f1, 0x1235, 0xf0f3}
	for p, err := range dedup.Fingerprints(hashes, nil).Pairs(context.Background(), engine.Near(3)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%#x and %#x: %d bits\n", hashes[p.A], hashes[p.B], p.Distance)
	}
	// Output:
	// 0xf0f0 and 0xf0f1: 1 bits
	// 0x1234 and 0x1235: 1 bits
	// 0xf0f1 and 0xf0f3: 1 bits
	// 0xf0f0 and 0xf0f3: 2 bits
}

// Clusters of fingerprints of 128 bits: chains of pairs that differ in at most one bit connect the
// items of a component.
func ExampleWideFingerprints() {
	hashes := [][]uint64{{7, 0}, {1, 1}, {7, 1}, {7, 3}}
	for c, err := range dedup.WideFingerprints(hashes, nil).Clusters(context.Background(), engine.Near(1), true) {
		if err != nil {
			log.Fatal(err)
		}
		for _, m := range c {
			fmt.Printf("%v is %d bits from the first\n", hashes[m.Item], m.Distance)
		}
	}
	// Output:
	// [7 0] is 0 bits from the first
	// [7 1] is 1 bits from the first
	// [7 3] is 2 bits from the first
}

// Pairs of sets, here the tags of pictures, that share 60 % of all their tags.
func ExampleSets() {
	tags := [][]uint64{{1, 2, 3, 4}, {7, 8}, {4, 3, 2, 1, 5}}
	for p, err := range dedup.Sets(tags, nil).Pairs(context.Background(), engine.Jaccard(0.6)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.A, p.B, p.Score)
	}
	// Output: 0 2 0.8
}

// Titles that are equal except for typing errors.
func ExampleTexts() {
	titles := []string{"The Go Programming Language", "Compilers", "The Go Programing Language", "Compilers."}
	for p, err := range dedup.Texts(slices.Values(titles), nil).Pairs(context.Background(), engine.Levenshtein(0.85)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s | %s | %.2f\n", titles[p.A], titles[p.B], p.Score)
	}
	// Output:
	// The Go Programming Language | The Go Programing Language | 0.96
	// Compilers | Compilers. | 0.90
}

// Of similar texts, the longest one is kept.
func ExampleCollection_Clusters() {
	texts := []string{
		"all good things come to those who wait",
		"something else",
		"all good things come to those who wait and see",
	}
	longest := &dedup.Options{Prefer: func(a, b int) int { return len(texts[b]) - len(texts[a]) }}
	for c, err := range dedup.Texts(slices.Values(texts), longest).Clusters(context.Background(), engine.Jaccard(0.7), false) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("keep:", texts[c[0].Item])
		for _, m := range c[1:] {
			fmt.Printf("drop: %s (%.2f)\n", texts[m.Item], m.Score)
		}
	}
	// Output:
	// keep: all good things come to those who wait and see
	// drop: all good things come to those who wait (0.75)
}
