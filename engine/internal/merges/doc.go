// Package merges starts the merges that package compaction picks, side by side, and limits how fast
// they write:
//
//	scheduler := merges.NewScheduler(store, 0, 0)
//	merge, err := scheduler.Next(false)                    // nil: nothing may start now
//
// A [Schedule] records which tables are being merged, and decides which merges may start meanwhile.
// A [Scheduler] starts merges: in the background by the policy, for loads, and for callers that
// wait. A [Throttle] limits their write rate. table.Merge does the merging; package store, which is
// the [Store] here, is responsible for files, versions, goroutines and the catalog.
//
// No two merges share a table: all are in one schedule. A merge in the background uses half of the
// processors. A merge with at most an eighth of the bytes of every running merge may start in
// addition to them, so that small tables, which slow down searches, need not wait for large merges.
//
// If there are more than MaxTables tables, writers are slowed to the pace of merging, and they stop
// at four more (speed.go). They are not slowed if merging would not help: if compaction is off or
// paused, or the last merge failed.
//
// A merge in the background starts only when the database has been open for the expected duration
// of the merge, and Close abandons it unless it ends soon. So the processes that repeat a merge
// lose at most half of their time.
package merges
