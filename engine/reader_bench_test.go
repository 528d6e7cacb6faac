package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/must"
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
	open := func() *DB {
		return must.Get(Open(db.Metrics().Path, &Options{ReadOnly: true}))(b)
	}
	b.Run("open/no log", func(b *testing.B) {
		for b.Loop() {
			must.Do(b, open().Close())
		}
	})
	must.Do(b, putSome(db, 0, 1000))
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			must.Do(b, open().Close())
		}
	})
	reader := open()
	defer reader.Close()
	b.Run("refresh/nothing new", func(b *testing.B) {
		for b.Loop() {
			must.Do(b, reader.Refresh(ctx))
		}
	})
	b.Run("refresh/after a write", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must.Do(b, putSome(db, i, i+1))
			must.Do(b, reader.Refresh(ctx))
		}
	})
	b.Run("refresh/after a flush", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			must.Do(b, putSome(db, i, i+1))
			must.Do(b, db.Flush(ctx))
			b.StartTimer()
			must.Do(b, reader.Refresh(ctx))
		}
	})
	out := filepath.Join(b.TempDir(), "out")
	var r BackupReport
	b.Run("backup/first", func(b *testing.B) {
		for b.Loop() {
			must.Do(b, os.RemoveAll(out))
			r = must.Get(db.Backup(ctx, out, nil))(b)
		}
		b.ReportMetric(float64(r.BytesWritten), "bytes")
	})
	b.Run("backup/after a write", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must.Do(b, putSome(db, i, i+1))
			r = must.Get(db.Backup(ctx, out, nil))(b)
		}
		b.ReportMetric(float64(r.BytesWritten), "bytes")
	})
}
