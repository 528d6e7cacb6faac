// Package compaction decides which tables of a database are merged. It is a pure function of their
// descriptions, a list of [Table]: it reads no file and has no state.
//
//	job := compaction.Pick(tables, compaction.Options{})   // nil: nothing to do
//
// [Pick] returns the most urgent merge, [Jobs] yields all that should be done, and [Group] divides
// tables into as few merges as possible, for a caller that merges all.
//
// # Policy
//
// Tables are merged size-tiered: a tier is a set of tables whose sizes are within a factor of
// Fanout, and a tier of at least Fanout tables is merged into one table, which then belongs to a
// higher tier. With data of the size of n tables, a document is rewritten about log_Fanout(n)
// times, and a query reads at most Fanout-1 tables per tier. If more than DeadShare of a table is
// deleted or replaced, the table is rewritten by itself. A table whose newest document has expired
// is dropped without being read.
//
// A database with a time to live is first tiered by time: the time to live is divided into Windows,
// and tables are merged only with tables of the same window. When a window has passed, its tables
// are merged into one. Tables therefore expire as a whole, and at most about one window of expired
// documents is still stored. A table that spans more than a window, because its documents came with
// their own times, is tiered with other such tables. If dead documents, including expired ones,
// exceed the share Slack of living ones, the table with the greatest dead share is rewritten. The
// number of expired documents of a table is estimated from its time sketch.
//
// A table has limits of bytes and of documents, so a large database has several large tables. The
// policy never picks a merge of tables whose result might exceed a limit; its bytes are estimated
// by the living share of the documents. A table that is more than half full is only rewritten
// because of its dead documents. The other tables of a tier are merged as far as they fit into one
// table, smaller ones first; if not all fit, the result is more than half full. So the limits cause
// at most one additional rewrite of a document, and, apart from tiers that are not full, there are
// fewer than twice as many tables as the documents need.
//
// In a database so large that a table has at most a fifth of it, the table with the greatest dead
// share is also rewritten when all dead documents and the result of a merge might exceed 0.28 of the
// living bytes. In TestBounded a database then needs at most 1.28 times its living bytes. One with
// texts needs more, because compressed blocks of texts carry dead ones.
//
// If there are more than MaxTables tables although no tier is full, the policy picks the merge that
// costs the fewest bytes per table saved.
package compaction
