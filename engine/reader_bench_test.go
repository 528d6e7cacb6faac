package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkReader opens, refreshes and backs up a database of four tables and a log of 1,000
// writes.
func BenchmarkReader(b *testing.B) {
	ctx := context.Background()
	n := benchSize()
	db, _ := create4test(b, &Options{NoSketch: true, NoSync: true, DisableAutoCompaction: true})
	for i := range 4 {
		loadTable(b, db, n/4*i, n/4*(i+1))
	}
	must := func(err error) {
		b.Helper()
		noErr(b, err)
	}
	open := func() *DB {
		r, err := Open(db.Metrics().Path, &Options{ReadOnly: true})
		must(err)
		return r
	}
	b.Run("open/no log", func(b *testing.B) {
		for b.Loop() {
			must(open().Close())
		}
	})
	must(putSome(db, 0, 1000))
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			must(open().Close())
		}
	})
	reader := open()
	defer reader.Close()
	b.Run("refresh/nothing new", func(b *testing.B) {
		for b.Loop() {
			must(reader.Refresh(ctx))
		}
	})
	b.Run("refresh/after a write", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must(putSome(db, i, i+1))
			must(reader.Refresh(ctx))
		}
	})
	b.Run("refresh/after a flush", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			must(putSome(db, i, i+1))
			must(db.Flush(ctx))
			b.StartTimer()
			must(reader.Refresh(ctx))
		}
	})
	out := filepath.Join(b.TempDir(), "out")
	var r BackupReport
	b.Run("backup/first", func(b *testing.B) {
		for b.Loop() {
			must(os.RemoveAll(out))
			var err error
			r, err = db.Backup(ctx, out, nil)
			must(err)
		}
		b.ReportMetric(float64(r.BytesWritten), "bytes")
	})
	b.Run("backup/after a write", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must(putSome(db, i, i+1))
			var err error
			r, err = db.Backup(ctx, out, nil)
			must(err)
		}
		b.ReportMetric(float64(r.BytesWritten), "bytes")
	})
}
