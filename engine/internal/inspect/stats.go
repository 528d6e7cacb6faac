package inspect

import (
	"strings"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// Stats is what engine.Stats has apart from the path and the parameters.
type Stats struct {
	Documents, Fingerprints, Tombstones, Expired, Memtable int64
	DiskBytes                                              int64
	Tables                                                 []TableStats
	Orphans                                                []Orphan
	Seq                                                    uint64
}

// TableStats is engine.TableStats.
type TableStats struct {
	Name                string
	Documents           int64
	Tombstones          int64
	Expired             int64
	Bytes               int64
	MinTime, MaxTime    time.Time
	Layout              string
	IndexBytes          int64
	BytesPerFingerprint float64
}

// An Orphan is engine.OrphanStats.
type Orphan struct {
	Name  string
	Bytes int64
}

// Describe returns the figures of what v sees. It counts without reading documents.
func Describe(v *view.View) (Stats, error) {
	st := Stats{Seq: v.Seq}
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		info := p.Info()
		t := TableStats{
			Name: p.Name, Documents: int64(info.Docs), Tombstones: p.Dead.Count(), Bytes: info.Size,
			MinTime: time.UnixMicro(p.Meta.MinTime), MaxTime: time.UnixMicro(p.Meta.MaxTime),
			Layout: p.Params().Layout.String(),
		}
		for _, sec := range info.Sections {
			if sec.Kind == sstable.KindRun {
				t.IndexBytes += sec.Length
			}
		}
		if info.Fingerprints > 0 {
			t.BytesPerFingerprint = float64(t.IndexBytes) / float64(info.Fingerprints)
		}
		var err error
		if t.Expired, err = expired(p, v.Since); err != nil {
			return st, err
		}
		st.Documents += t.Documents - t.Tombstones - t.Expired
		st.Tombstones += t.Tombstones
		st.Expired += t.Expired
		st.Fingerprints += int64(info.Fingerprints) - p.Dead.Below(info.Fingerprints)
		st.DiskBytes += t.Bytes
		st.Tables = append(st.Tables, t)
	}
	for _, m := range v.Mems {
		for _, d := range m.Docs {
			if d.AliveAt(v.Seq) {
				st.Memtable++
				if d.HasFingerprint {
					st.Fingerprints++
				}
			}
		}
	}
	st.Documents += st.Memtable
	err := eachFile(v.Dir, func(name string, size int64) {
		if _, sst := files.Number(name, ".sst"); !sst {
			st.DiskBytes += size
		}
		if strings.HasSuffix(name, files.OrphanSuffix) {
			st.Orphans = append(st.Orphans, Orphan{name, size})
		}
	})
	return st, err
}

// expired estimates how many living documents of p are older than since.
func expired(p *view.Part, since int64) (n int64, err error) {
	t := p.ForPolicy()
	if p.Meta.MinTime < since && since <= p.Meta.MaxTime {
		if t.Times, err = p.TimeSketch(); err != nil {
			return 0, err
		}
	}
	return t.Expired(since), nil
}

// eachFile calls f for every file in dir, nil for a single table file.
func eachFile(dir *files.Folder, f func(name string, size int64)) error {
	if dir == nil {
		return nil
	}
	names, err := dir.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := dir.Stat(name); err == nil { // else it has just been removed
			f(name, info.Size)
		}
	}
	return nil
}
