package compaction

import (
	"slices"
	"testing"
)

// A bounded is a database of which every merge has an end: documents of 1 KiB arrive in flushes,
// and replace random ones.
type bounded struct {
	o       Options
	tables  []Table
	next    uint64
	flushed int64
	written int64 // by merges
	peak    int64 // bytes of all tables, with the result of a merge that runs
}

const boundedDoc = 1 << 10

func (b *bounded) bytes() (n, docs int64) {
	for _, t := range b.tables {
		n, docs = n+t.Size, docs+t.Docs-t.Dead
	}
	return n, docs
}

// flush adds a table of docs documents, of which replaced replace others, and merges.
func (b *bounded) flush(docs, replaced int64) {
	_, all := b.bytes()
	left := replaced
	for i := range b.tables {
		t := &b.tables[i]
		n := min(replaced*(t.Docs-t.Dead)/max(all, 1), left)
		t.Dead, left = t.Dead+n, left-n
	}
	b.next++
	b.tables = append(b.tables, Table{Number: b.next, Size: docs * boundedDoc, Docs: docs})
	b.flushed += docs * boundedDoc
	for {
		stored, _ := b.bytes()
		b.peak = max(b.peak, stored)
		pick := picked(b.tables, b.o)
		if pick == nil {
			return
		}
		b.next++
		var m Table
		b.tables, m = merged(slices.Clone(b.tables), pick, b.next)
		b.peak = max(b.peak, stored+m.Size)
		b.written += m.Size
	}
}

// TestBounded fills a database with 100 GiB in flushes of 16 MiB and replaces them three times at
// random, with limits of the size of a table.
func TestBounded(t *testing.T) {
	const total, flush = 100 << 30 / boundedDoc, 16 << 20 / boundedDoc
	for _, limit := range []int64{1 << 30, 4 << 30, 20 << 30, 1 << 40} {
		b := &bounded{o: Options{MaxBytes: limit}}
		for range total / flush {
			b.flush(flush, 0)
		}
		fill := float64(b.written+b.flushed) / float64(b.flushed)
		tables := len(b.tables)
		b.written, b.flushed, b.peak = 0, 0, 0
		for range 3 * total / flush {
			b.flush(flush, flush)
		}
		t.Logf("%d MiB: filled with %d tables, each byte written %.1f times; replaced with %d tables, each byte written %.1f times; peak %.2f", limit>>20,
			tables, fill, len(b.tables), float64(b.written+b.flushed)/float64(b.flushed), float64(b.peak)/(total*boundedDoc))
	}
}
