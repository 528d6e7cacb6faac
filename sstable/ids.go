package sstable

// How far AppendIDs is ahead with asking for directory entries, and for names.
const (
	touchAhead = 16
	namesAhead = 8
)

// AppendIDs appends the IDs of docs to dst, one after the other, and to ends where in dst each of
// them ends. Of many documents, ascending ones are read fastest: cache misses overlap, and
// neighbours share them.
func (r *Reader) AppendIDs(dst []byte, ends []int, docs []uint32) (ids []byte, idEnds []int, err error) {
	defer r.unguard(guard(), &err)
	for _, doc := range docs {
		if err := r.checkDoc(doc); err != nil {
			return dst, ends, err
		}
	}
	for i, doc := range docs {
		if i+touchAhead < len(docs) {
			r.names.PrefetchEntry(docs[i+touchAhead])
		}
		if i+namesAhead < len(docs) {
			r.names.Prefetch(docs[i+namesAhead])
		}
		id, err := r.names.Get(doc)
		if err != nil {
			return dst, ends, err
		}
		dst = append(dst, id...)
		ends = append(ends, len(dst))
	}
	return dst, ends, nil
}
