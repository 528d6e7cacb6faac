package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// The layout of the pages of a bbolt file, as far as catalogs use it. Integers have the byte order
// of the machine.
//
//	page header                                  meta page, after the header
//	 0  8  page number                            0  4  magic 0xED0CDAED
//	 8  2  flags: 1 branch, 2 leaf, 4 meta        4  4  version 2
//	10  2  elements                               8  4  page size
//	12  4  more pages of this one                12  4  flags
//	                                             16 16  root bucket
//	element of a leaf                            32  8  freelist, or all ones
//	 0  4  flags: 1 a bucket                     40  8  pages in the file
//	 4  4  position of the key, from here        48  8  transaction
//	 8  4  its size                              56  8  FNV-1a of 0..55
//	12  4  size of the value, which follows
//	                                             bucket (a value)
//	element of a branch                           0  8  root page, 0 if inline
//	 0  4  position of the key, from here         8  8  sequence
//	 4  4  its size                              16 ..  the inline leaf page
//	 8  8  child page
//
// Transaction n writes meta page n mod 2, so the two pages of an intact file are one transaction
// apart.
const (
	pageSize   = 4096
	pageHeader = 16
	metaSize   = 64
	bucketSize = 16

	branchPage = 1
	leafPage   = 2
	metaPage   = 4

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = 1<<64 - 1

	maxDepth    = 32  // depth of the tree; a full tree of this depth fits on no disk
	maxOverflow = 512 // overflow pages of one page: more than the longest record needs
)

var order = binary.NativeEndian

// tree is the contents of a catalog's file.
type tree struct {
	txid    uint64 // number of the last transaction
	entries []record
}

// walker reads a bbolt file and checks everything that bbolt assumes.
type walker struct {
	f       vfs.File
	name    string
	pages   uint64          // number of pages in the file
	seen    map[uint64]bool // pages reached so far
	records []record
}

// readTree reads the records of a catalog without bbolt.
func readTree(fs vfs.FS, name string) (t tree, err error) {
	f, err := fs.Open(name)
	if err != nil {
		return tree{}, err
	}
	defer closing(f, &err)
	return walkFile(f, name)
}

// walkFile is readTree for an open file.
func walkFile(f vfs.File, name string) (tree, error) {
	w := &walker{f: f, name: name, seen: map[uint64]bool{}}
	m, err := w.meta()
	if err != nil {
		return tree{}, err
	}
	w.pages = m.pages
	root, err := w.rootBucket(m.root)
	if err != nil {
		return tree{}, err
	}
	if err := w.bucket(root); err != nil {
		return tree{}, err
	}
	return tree{txid: m.txid, entries: w.records}, nil
}

// readMeta reads the newer of the two meta pages.
func readMeta(fs vfs.FS, name string) (m meta, err error) {
	f, err := fs.Open(name)
	if err != nil {
		return meta{}, err
	}
	defer closing(f, &err)
	return (&walker{f: f, name: name}).meta()
}

// closing closes a file. It sets *err to the error of Close if *err is nil.
func closing(f vfs.File, err *error) {
	if closeErr := f.Close(); *err == nil {
		*err = closeErr
	}
}

func (w *walker) corrupt(page uint64, format string, args ...any) error {
	return base.Corruptf(w.name, fmt.Sprintf("page %d", page), int64(page)*pageSize, format, args...)
}

// read reads size bytes from the start of a page.
func (w *walker) read(page uint64, size int) ([]byte, error) {
	buf := make([]byte, size)
	n, err := w.f.ReadAt(buf, int64(page)*pageSize)
	if n == size {
		return buf, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil, w.corrupt(page, "the file ends within it")
	}
	return nil, err
}

// meta holds the fields of a meta page.
type meta struct{ root, freelist, pages, txid uint64 }

// meta returns the newer of the two meta pages.
func (w *walker) meta() (meta, error) {
	size, err := w.f.Size()
	if err != nil {
		return meta{}, err
	}
	var metas [2]meta
	for i := range metas {
		if metas[i], err = w.metaPage(uint64(i)); err != nil {
			return meta{}, err
		}
	}
	newer, older := metas[1], metas[0]
	if older.txid > newer.txid {
		newer, older = older, newer
	}
	page := newer.txid % 2
	switch {
	case newer.txid-older.txid != 1:
		return meta{}, w.corrupt(page, "transactions %d and %d do not follow one another", older.txid, newer.txid)
	case newer.freelist != noFreelist:
		return meta{}, w.corrupt(page, "there is a freelist")
	case newer.pages > uint64(size)/pageSize:
		return meta{}, w.corrupt(page, "the file has %d bytes, too few for %d pages", size, newer.pages)
	}
	return newer, nil
}

func (w *walker) metaPage(i uint64) (meta, error) {
	buf, err := w.read(i, pageHeader+metaSize)
	if err != nil {
		return meta{}, err
	}
	id, flags, body := order.Uint64(buf), order.Uint16(buf[8:]), buf[pageHeader:]
	hash := fnv.New64a()
	hash.Write(body[:56])
	m := meta{root: order.Uint64(body[16:]), freelist: order.Uint64(body[32:]), pages: order.Uint64(body[40:]), txid: order.Uint64(body[48:])}
	switch {
	case order.Uint32(body) != boltMagic || order.Uint32(body[4:]) != boltVersion:
		return meta{}, w.corrupt(i, "not a bbolt file of version %d", boltVersion)
	case hash.Sum64() != order.Uint64(body[56:]):
		return meta{}, w.corrupt(i, "checksum differs")
	case order.Uint32(body[8:]) != pageSize:
		return meta{}, w.corrupt(i, "pages of %d bytes", order.Uint32(body[8:]))
	case id != i || flags != metaPage || m.txid%2 != i:
		return meta{}, w.corrupt(i, "meta page %d of transaction %d", id, m.txid)
	}
	return m, nil
}

// rootBucket reads the tree of buckets, which must contain exactly one, and returns the value of
// that bucket.
func (w *walker) rootBucket(root uint64) ([]byte, error) {
	p, err := w.page(root)
	if err != nil {
		return nil, err
	}
	elems, err := w.leaf(p)
	if err != nil {
		return nil, err
	}
	if len(elems) != 1 || elems[0].flags != 1 || string(elems[0].key) != bucketName || len(elems[0].value) < bucketSize {
		return nil, w.corrupt(root, "the bucket %q is missing or not the only one", bucketName)
	}
	return elems[0].value, nil
}

func (w *walker) bucket(value []byte) error {
	root := order.Uint64(value)
	if root != 0 {
		return w.walk(root, nil, nil, 0)
	}
	p := page{buf: value[bucketSize:]}
	if len(p.buf) < pageHeader || order.Uint64(p.buf) != 0 {
		return w.corrupt(0, "malformed inline bucket")
	}
	elems, err := w.leaf(p)
	if err != nil {
		return err
	}
	return w.collect(p, elems, nil, nil)
}

// page is the contents of a page and its overflow pages.
type page struct {
	id  uint64
	buf []byte
}

// page reads a page, which must not have been reached before.
func (w *walker) page(id uint64) (page, error) {
	if id < 2 || id >= w.pages {
		return page{}, w.corrupt(id, "the page is not in the file, which has %d", w.pages)
	}
	head, err := w.read(id, pageHeader)
	if err != nil {
		return page{}, err
	}
	more := uint64(order.Uint32(head[12:]))
	if got := order.Uint64(head); got != id || more > maxOverflow || more >= w.pages-id {
		return page{}, w.corrupt(id, "number %d, with %d more pages", got, more)
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i] {
			return page{}, w.corrupt(i, "the page is in use twice")
		}
		w.seen[i] = true
	}
	buf, err := w.read(id, int(more+1)*pageSize)
	return page{id, buf}, err
}

// walk reads the records of the tree below page id, whose keys must be in [low, high); nil means no
// bound.
func (w *walker) walk(id uint64, low, high []byte, depth int) error {
	if depth > maxDepth {
		return w.corrupt(id, "the tree is too deep")
	}
	p, err := w.page(id)
	if err != nil {
		return err
	}
	if order.Uint16(p.buf[8:]) != branchPage {
		elems, err := w.leaf(p)
		if err != nil {
			return err
		}
		if len(elems) == 0 && depth > 0 {
			return w.corrupt(id, "empty page")
		}
		return w.collect(p, elems, low, high)
	}
	elems, err := w.elements(p, branchPage)
	if err != nil {
		return err
	}
	if len(elems) == 0 {
		return w.corrupt(id, "empty page")
	}
	if err := w.inOrder(p, elems, low, high); err != nil {
		return err
	}
	for i, e := range elems {
		end := high
		if i+1 < len(elems) {
			end = elems[i+1].key
		}
		if err := w.walk(e.child, e.key, end, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) collect(p page, elems []element, low, high []byte) error {
	if err := w.inOrder(p, elems, low, high); err != nil {
		return err
	}
	for _, e := range elems {
		if e.flags != 0 {
			return w.corrupt(p.id, "record with flags %x", e.flags)
		}
		w.records = append(w.records, record{e.key, e.value})
	}
	return nil
}

func (w *walker) inOrder(p page, elems []element, low, high []byte) error {
	for i, e := range elems {
		switch {
		case low != nil && bytes.Compare(e.key, low) < 0,
			high != nil && bytes.Compare(e.key, high) >= 0,
			i > 0 && bytes.Compare(elems[i-1].key, e.key) >= 0:
			return w.corrupt(p.id, "key %d is out of order", i)
		}
	}
	return nil
}

// element is an element of a leaf or of a branch page.
type element struct {
	key, value []byte
	flags      uint32 // for a leaf
	child      uint64 // for a branch
}

func (w *walker) leaf(p page) ([]element, error) { return w.elements(p, leafPage) }

// elements reads the elements of a page. bbolt lays out keys and values in order and without
// overlap. elements checks this, which also prevents the elements of a hostile page from sharing
// bytes and adding up to more than the file.
func (w *walker) elements(p page, kind uint16) ([]element, error) {
	if flags := order.Uint16(p.buf[8:]); flags != kind {
		return nil, w.corrupt(p.id, "flags %x", flags)
	}
	const size = 16 // for both kinds
	count := int(order.Uint16(p.buf[10:]))
	floor := uint64(pageHeader + size*count)
	if floor > uint64(len(p.buf)) {
		return nil, w.corrupt(p.id, "%d elements", count)
	}
	elems := make([]element, count)
	for i := range elems {
		at := pageHeader + size*i
		raw := p.buf[at : at+size]
		e := &elems[i]
		var pos, keySize, valueSize uint64
		if kind == leafPage {
			e.flags = order.Uint32(raw)
			pos, keySize, valueSize = uint64(order.Uint32(raw[4:])), uint64(order.Uint32(raw[8:])), uint64(order.Uint32(raw[12:]))
		} else {
			pos, keySize, e.child = uint64(order.Uint32(raw)), uint64(order.Uint32(raw[4:])), order.Uint64(raw[8:])
		}
		start := uint64(at) + pos
		end := start + keySize + valueSize
		if keySize == 0 || start < floor || end > uint64(len(p.buf)) {
			return nil, w.corrupt(p.id, "element %d lies outside", i)
		}
		e.key, e.value = p.buf[start:start+keySize], p.buf[start+keySize:end]
		floor = end
	}
	return elems, nil
}
