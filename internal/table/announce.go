package table

import (
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Parts are parts of documents.
type Parts uint8

// The parts that Announce distinguishes.
const (
	PartID Parts = 1 << iota
	PartText
	PartSketch
)

// Together is how many documents Announce is best called for: then requests are few, and a search that ends
// early has not read much in vain.
const Together = 256

// IsServed reports whether the table is on a server, so that Announce is worth a call.
func (r *Reader) IsServed() bool { return r.t.Pages.IsRemote() }

// Announce says that parts of documents will be read, and the places of their texts. If the table is on a
// server, they are then read together, by few requests; otherwise Announce does nothing. It may wait for the
// places of the parts.
func (r *Reader) Announce(docs []uint32, parts Parts) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	return r.announce(docs, parts)
}

// announce is Announce without protection from faults.
func (r *Reader) announce(docs []uint32, parts Parts) (err error) {
	if !r.t.Pages.IsRemote() || len(docs) == 0 {
		return nil
	}
	for _, doc := range docs {
		if err := r.t.CheckDoc(doc); err != nil {
			return err
		}
		if r.t.Places != nil {
			r.t.Places.Fetch(int(doc))
		}
	}
	if parts&PartID != 0 {
		r.t.Names.Fetch(docs)
	}
	if parts&PartSketch != 0 && r.t.Sketches != nil {
		r.t.Sketches.Fetch(docs)
	}
	if r.t.Places != nil {
		for _, doc := range docs {
			r.t.Places.FetchPlaced(int(doc))
		}
	}
	if parts&PartText == 0 || r.t.Records == nil {
		return nil
	}
	records := make([]uint32, len(docs))
	for i, doc := range docs {
		if records[i], err = r.t.Place(doc); err != nil {
			return err
		}
	}
	r.t.Records.Fetch(records)
	return nil
}

// announceEntry says that the ID and the entry of a document of a table on a server will be read. The rest of an
// entry is in the order of writing, and is read later.
func (r *Reader) announceEntry(doc uint32) {
	if !r.t.Pages.IsRemote() {
		return
	}
	var dirs []*keyrun.Dir
	if r.t.Ranks != nil {
		dirs = append(dirs, &r.t.Ranks.Dir)
	}
	if r.t.Places != nil {
		dirs = append(dirs, &r.t.Places.Dir)
	}
	if doc < r.t.Info.Fingerprints {
		dirs = append(dirs, &r.t.Runs[0].Dir)
		for i := range r.t.Words {
			dirs = append(dirs, &r.t.Words[i].Column.Dir)
		}
	}
	keyrun.FetchAll(int(doc), dirs...)
	r.t.Names.Fetch([]uint32{doc})
}
