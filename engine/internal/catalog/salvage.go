package catalog

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/simdb/simdb/internal/vfs"
)

// Salvaged is the readable part of a catalog.
type Salvaged struct {
	State *State // as of the last transaction; nil if unknown
	// Err is the reason why the catalog cannot be opened, or nil: then Transaction is its last one.
	Err         error
	Transaction uint64
}

// Salvage reads a catalog that may be damaged, without bbolt. The error is one of the file system,
// or ErrVersion.
//
// A damaged root page loses nothing: Salvage finds the page that it pointed to by its content. A
// tree is complete if its digest matches its records; it is the current one if the file has no
// trace of a later transaction. If there is no such tree, State is nil.
func Salvage(fs vfs.FS, name string) (out Salvaged, err error) {
	state, t, _, damage := read(fs, name)
	out = Salvaged{State: state, Err: damage, Transaction: t.txid}
	if damage == nil || errors.Is(damage, ErrVersion) {
		return out, damage
	}
	f, err := fs.Open(name)
	if err != nil {
		return out, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return out, err
	}
	out.State = newestTree(f, name, uint64(size)/pageSize)
	return out, nil
}

// newestTree returns the state of the last transaction that has left a trace, or nil if its tree is
// incomplete.
func newestTree(f vfs.File, name string, pages uint64) (state *State) {
	walk := func() *walker { return &walker{f: f, name: name, pages: pages, seen: map[uint64]bool{}} }
	newest, found := uint64(0), uint64(0)
	for id := range pages {
		w := walk()
		if m, err := w.metaPage(id); id < 2 && err == nil {
			newest = max(newest, m.txid)
		}
		p, err := w.page(id)
		if err != nil {
			continue
		}
		elems, err := w.leaf(p)
		if err != nil {
			continue
		}
		w.collect(p, elems, nil, nil)
		newest = max(newest, transactionOf(w.records))
		for _, e := range elems {
			t := walk()
			if string(e.key) != bucketName || len(e.value) < bucketSize || t.bucket(e.value) != nil {
				continue
			}
			txid := transactionOf(t.records)
			newest = max(newest, txid)
			if s, _, err := decodeState(name, tree{txid, t.records}); err == nil && txid > found {
				state, found = s, txid
			}
		}
	}
	if found != newest {
		return nil
	}
	return state
}

// transactionOf returns the transaction of the digest among records, or 0 if there is no digest.
func transactionOf(records []record) uint64 {
	i := slices.IndexFunc(records, func(r record) bool { return string(r.key) == keyDigest })
	if i < 0 {
		return 0
	}
	payload, err := records[i].payload()
	if err != nil || len(payload) != 24 {
		return 0
	}
	return binary.LittleEndian.Uint64(payload[16:])
}
