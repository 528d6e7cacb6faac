package dedup

import (
	"path/filepath"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
)

// With --estimate similarities are those of sketches. They go into a temporary database, under the
// ordinals of the documents, and clusters are formed there.

// estimates is the first pass and the join with --estimate. The self-join builds its own index of
// sketches, so the index of the tables is made as small as possible, by the highest floor.
func (d *job) estimates(dir string) (err error) {
	create := engine.Options{NoText: true, MinJaccard: 1, Sync: engine.SyncNever, DisableAutoCompaction: true}
	if err := d.c.FeatureFlags.Options(&create); err != nil {
		return err
	}
	db, err := engine.Create(filepath.Join(dir, "documents"), &create)
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	if err := d.load(db); err != nil {
		return err
	}
	d.out.keeper, d.out.score, d.out.estimate = make([]uint32, d.read), make([]float64, d.read), make([]estimate, d.read)
	for n := range d.out.keeper {
		d.out.keeper[n] = uint32(n)
	}
	o := &engine.ClusterOptions{Progress: d.meter.Report}
	if d.keep.rules.all[0].name != "first" {
		o.Before = func(a, b engine.Entry) bool { return d.keep.less(ordinalOf(a.ID), ordinalOf(b.ID)) }
	}
	keeper := int64(0)
	for m, err := range db.Clusters(d.a.Context(), engine.Jaccard(float64(*d.c.Jaccard)), o) {
		if err != nil {
			return err
		}
		n := ordinalOf(m.ID)
		if m.Keep {
			keeper = n
		}
		d.out.keeper[n], d.out.score[n], d.out.estimate[n] = uint32(keeper), m.Score, estimate{m.Error, m.Exact}
	}
	return d.out.numberClusters(d.a.Context())
}

// load puts the sketches of all documents into the database.
func (d *job) load(db *engine.DB) error {
	loader, err := db.NewLoader(d.a.Context(), engine.LoadOptions{MemoryBytes: int64(d.c.Memory)})
	if err != nil {
		return err
	}
	err = d.readAll(func(rec *input.Record) error {
		return loader.Add(engine.Doc{ID: ordinalID(d.read), Text: rec.Doc.Text, Fingerprint: rec.Doc.Fingerprint})
	})
	if err != nil {
		loader.Abort()
		return err
	}
	d.meter.Report(engine.Progress{Stage: "sort"})
	stats, err := loader.Close()
	d.empty = stats.Empty
	return err
}

// An ordinal is the number of a document among those read, from 0. As an ID it has a fixed width,
// so that IDs are in the order of the ordinals:
//
//	5 bytes, big-endian: room for 10^12 documents
const ordinalBytes = 5

func ordinalID(n int64) string {
	return string([]byte{byte(n >> 32), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

func ordinalOf(id string) int64 {
	n := int64(0)
	for i := range ordinalBytes {
		n = n<<8 | int64(id[i])
	}
	return n
}
