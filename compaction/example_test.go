package compaction_test

import (
	"fmt"

	"github.com/simdb/simdb/compaction"
)

// Four tables of about the same size are merged into one, which is then the only one in its tier.
func Example() {
	tables := []compaction.Table{{Number: 1, Size: 900 << 20, Docs: 9_000_000}}
	for n := range uint64(4) {
		tables = append(tables, compaction.Table{Number: n + 2, Size: 8 << 20, Docs: 80_000})
	}
	job := compaction.Pick(tables, compaction.Options{})
	fmt.Println(job.Reason, job.Tables, job.Bytes>>20, "MiB")

	tables = append(tables[:1], compaction.Table{Number: 6, Size: job.Bytes, Docs: 320_000})
	fmt.Println(compaction.Pick(tables, compaction.Options{}) == nil)
	// Output:
	// tier [2 3 4 5] 32 MiB
	// true
}

// Much of a table is deleted: it is rewritten by itself, after more urgent merges.
func ExampleJobs() {
	tables := []compaction.Table{
		{Number: 1, Size: 900 << 20, Docs: 9_000_000, Dead: 4_000_000},
		{Number: 2, Size: 8 << 20, Docs: 80_000, Dead: 80_000},
	}
	for job := range compaction.Jobs(tables, compaction.Options{}, 0) {
		fmt.Println(job.Reason, job.Tables)
	}
	// Output:
	// drop [2]
	// dead [1]
}
