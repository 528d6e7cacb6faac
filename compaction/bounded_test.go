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

// TestBounded fills a database with 100 GiB in flushes of 16 MiB and replaces them twice at random,
// with limits of the size of a table. Where a table has at most a fifth of the data, dead documents
// and the result of a merge may need 0.3 of the living bytes.
func TestBounded(t *testing.T) {
	const total, flush = 100 << 30 / boundedDoc, 16 << 20 / boundedDoc
	for _, c := range []struct {
		limit         int64
		tables        int     // at most
		fill, replace float64 // how often a byte is written, at most
		peak          float64
	}{{4 << 30, 50, 5.5, 8.5, 1.3}, {20 << 30, 20, 6.5, 14, 1.3}, {1 << 40, 15, 7.5, 10.5, 2.5}} {
		b := &bounded{o: Options{MaxBytes: c.limit}}
		for range total / flush {
			b.flush(flush, 0)
		}
		fill, tables := float64(b.written+b.flushed)/float64(b.flushed), len(b.tables)
		b.written, b.flushed, b.peak = 0, 0, 0
		for range 2 * total / flush {
			b.flush(flush, flush)
		}
		replace, peak := float64(b.written+b.flushed)/float64(b.flushed), float64(b.peak)/(total*boundedDoc)
		t.Logf("%d MiB: filled with %d tables, each byte written %.1f times; replaced with %d tables, each byte written %.1f times; peak %.2f",
			c.limit>>20, tables, fill, len(b.tables), replace, peak)
		if max(tables, len(b.tables)) > c.tables || fill > c.fill || replace > c.replace || peak > c.peak {
			t.Errorf("more than %+v", c)
		}
		for _, table := range b.tables {
			if table.Size > c.limit {
				t.Errorf("a table of %d bytes", table.Size)
			}
		}
	}
}
