package keyrun

import (
	"encoding/binary"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/vfs"
)

// The directory of a table that is not on this machine is read page by page. A page has 256 entries.
// The summary of a directory, which is read when the table is opened, has the first entry of each
// page, with the CRC32C of the page instead of that of a block, and a copy of the trailer:
//
//	+----------------------------+-----+----------------------------+-------------+
//	| entry of page 0         20 | ... | entry of page P         20 | trailer  64 |
//	+----------------------------+-----+----------------------------+-------------+
//
// So a search by key reads only the pages with its keys. It uses neither guide nor leads.
const (
	pageShift  = 8 // a block's page is its number >> pageShift
	pageBlocks = 1 << pageShift
)

// lazyDir records which pages of a directory have been read.
type lazyDir struct {
	top  []byte // entries of the pages
	mu   sync.Mutex
	read []atomic.Bool
}

// TopSize returns the size of the summary of a directory of size bytes.
func TopSize(size int64) int64 {
	blocks := (size - frameTrailerSize) / dirEntry
	return (blocks+pageBlocks-1)/pageBlocks*dirEntry + frameTrailerSize
}

// HasPages reports whether a directory of size bytes has several pages.
func HasPages(size int64) bool { return size > pageBlocks*dirEntry+frameTrailerSize }

// AppendTop appends the summary of a directory.
func AppendTop(dst, dir []byte) []byte {
	at := len(dir) - frameTrailerSize
	for entries := dir[:at]; len(entries) > 0; {
		page := entries[:min(len(entries), pageBlocks*dirEntry)]
		entries = entries[len(page):]
		dst = append(dst, page[:16]...)
		dst = binary.LittleEndian.AppendUint32(dst, kernel.CRC32C(0, page))
	}
	return append(dst, dir[at:]...)
}

// openPages opens a directory of which only the summary has been read.
func (d *Dir) openPages() error {
	pages := (d.blocks + pageBlocks - 1) >> pageShift
	d.lazy = &lazyDir{top: d.src.Top[:len(d.src.Top)-frameTrailerSize], read: make([]atomic.Bool, pages)}
	for p := range pages {
		if p > 0 && d.keys && d.firstKey(p) < d.firstKey(p-1) {
			return d.corruptBase(p<<pageShift, "first key %016x is out of order", d.firstKey(p))
		}
		if start := d.pageStart(p); start > uint64(d.size) { // so that it fits an int of 32 bits
			return d.corruptInfo(p<<pageShift, "starts at %d of %d", start, d.size)
		}
	}
	return nil
}

// firstKey returns the first base of a page.
func (d *Dir) firstKey(page int) uint64 {
	return binary.LittleEndian.Uint64(d.lazy.top[page*dirEntry:])
}

// pageStart returns where the first block of a page should start in the body.
func (d *Dir) pageStart(page int) uint64 {
	return binary.LittleEndian.Uint64(d.lazy.top[page*dirEntry+8:]) >> 16 << 3
}

// pageEnd returns where the blocks before block b, which starts a page or is NumBlocks, should end in
// the body.
func (d *Dir) pageEnd(b int) int {
	if b == d.blocks {
		return d.size
	}
	return int(d.pageStart(b >> pageShift))
}

// need reads the entries of the blocks [b, end) unless they have been read; end may exceed the number
// of blocks. It panics with a *vfs.Failure if that fails, which the guards of a table turn into an
// error. Accessors of entries do not call it, because searches use them in inner loops. They are called
// for blocks that Blocks has returned, or Check has verified, or after LoadDirectory.
func (d *Dir) need(b, end int) {
	if d.lazy == nil {
		return
	}
	for p := b >> pageShift; p < len(d.lazy.read) && p<<pageShift < end; p++ {
		if d.lazy.read[p].Load() {
			continue
		}
		if p<<pageShift+pageBlocks < end { // the pages after it, too
			last := min(end, d.blocks)
			d.src.Pages.Fetch(d.src.DirOffset+int64(p<<pageShift*dirEntry), d.src.DirOffset+int64(last*dirEntry))
		}
		if err := d.readPage(p); err != nil {
			panic(&vfs.Failure{Err: err})
		}
	}
}

// LoadDirectory reads all of the directory: for callers that use entries of any blocks.
func (d *Dir) LoadDirectory() { d.need(0, d.blocks) }

func (d *Dir) readPage(p int) error {
	first, end := p<<pageShift, min((p+1)<<pageShift, d.blocks)
	from, to := first*dirEntry, end*dirEntry
	d.src.Pages.Need(d.src.DirOffset+int64(from), d.src.DirOffset+int64(to))
	d.lazy.mu.Lock()
	defer d.lazy.mu.Unlock()
	if d.lazy.read[p].Load() {
		return nil
	}
	want := d.lazy.top[p*dirEntry:][:dirEntry]
	page := d.src.Dir[from:to]
	if got, want := kernel.CRC32C(0, page), binary.LittleEndian.Uint32(want[16:]); got != want || string(page[:16]) != string(d.lazy.top[p*dirEntry:][:16]) {
		return d.corruptDir(from, "checksum of page %d is %08x, not %08x", p, got, want)
	}
	if _, _, err := d.fill(first, end); err != nil {
		return err
	}
	// The first base of a page is also the limit of the page before it. So it is set with the first of the
	// two that is read, and not again, because others may be reading it.
	if p == 0 || !d.lazy.read[p-1].Load() {
		d.entries[first].base = d.firstKey(p)
	}
	if end < d.blocks && !d.lazy.read[p+1].Load() {
		d.entries[end].base = d.firstKey(p + 1)
	}
	if last := d.entries[end-1].base; d.keys && end < d.blocks && last > d.firstKey(p+1) {
		return d.corruptBase(end-1, "first key %016x is out of order", last)
	}
	d.lazy.read[p].Store(true)
	return nil
}

// IsPaged reports whether the directory is read page by page: then only what is needed of it should be
// read, by Blocks.
func (r *Run) IsPaged() bool { return r.lazy != nil }

// before returns the number of pages whose first key is less than key.
func (r *Run) before(key uint64) int {
	return sort.Search(len(r.lazy.read), func(p int) bool { return r.firstKey(p) >= key })
}

// Want says that a search will look up a key: the page that tells its block is read together with
// others. Without it, the look-up waits for the page alone.
func (r *Run) Want(key uint64) {
	if r.lazy == nil {
		return
	}
	if p := r.before(key) - 1; p >= 0 {
		r.wantPage(p)
	}
}

// wantPage announces a page, and reports whether it has not been read yet.
func (d *Dir) wantPage(p int) bool {
	if d.lazy.read[p].Load() {
		return false
	}
	from, to := p*pageBlocks*dirEntry, min((p+1)*pageBlocks, d.blocks)*dirEntry
	d.src.Pages.Fetch(d.src.DirOffset+int64(from), d.src.DirOffset+int64(to))
	return true
}

// FetchPlaced is Fetch, but it waits for the place of the block.
func (d *Dir) FetchPlaced(i int) {
	d.need(i>>BlockShift, i>>BlockShift+1)
	d.Fetch(i)
}

// FetchAll is FetchPlaced for value i of several columns and runs. It waits for all places together.
func FetchAll(i int, dirs ...*Dir) {
	for _, d := range dirs {
		d.Fetch(i)
	}
	for _, d := range dirs {
		d.FetchPlaced(i)
	}
}

// pagedBlocks is Blocks for a directory that is read page by page. It reads the entries of the blocks
// that may have the keys, and of the next one.
func (r *Run) pagedBlocks(first, last uint64) (block, end int) {
	block, end = r.firstAtLeast(first), r.blocks
	if last < r.last {
		end = r.firstAtLeast(last + 1)
	}
	r.need(max(block, 1)-1, end+1)
	return block, end
}

// firstAtLeast returns the number of blocks whose first key is less than key. It reads the entry of the
// last one.
func (r *Run) firstAtLeast(key uint64) int {
	p := r.before(key) - 1
	if p < 0 {
		return 0
	}
	first, end := p<<pageShift, min((p+1)<<pageShift, r.blocks)
	r.need(first, end)
	return first + sort.Search(end-first, func(i int) bool { return r.entries[first+i].base >= key })
}
