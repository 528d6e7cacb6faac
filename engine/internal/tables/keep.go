package tables

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// Plan is what a merge is to do that can be interrupted.
type Plan struct {
	Inputs []catalog.Table
	Erase  bool // see sstable.MergeOptions
}

// Kept is a merge that was interrupted: its unfinished table, and beside it the file MERGE, which
// says what the merge was about and which sections of the table are stored safely:
//
//	+----------+----------+------+----------+----------+--------+------------+
//	| length 4 | CRC32C 4 | plan | length 4 | CRC32C 4 | offset | checkpoint | ...
//	+----------+----------+------+----------+----------+--------+------------+
//
// Each record is written after the bytes that it describes have been synced. What follows the last
// whole record is of no use. There is at most one in a database.
type Kept struct {
	Plan
	Identity    sstable.Identity
	Checkpoints []sstable.Checkpoint `json:"-"`
	size        int64                // of the records in the file
}

// Brief returns k with the last of its checkpoints only, and without what that holds.
func (k *Kept) Brief() *Kept {
	b := *k
	b.Checkpoints = nil
	if k.Offset() > 0 {
		b.Checkpoints = []sstable.Checkpoint{{Offset: k.Offset()}}
	}
	return &b
}

// Place returns which of the inputs t is.
func (k *Kept) Place(t catalog.Table) int { return slices.Index(k.Inputs, t) }

// Offset returns how many bytes of the table are of use.
func (k *Kept) Offset() int64 {
	if n := len(k.Checkpoints); n > 0 {
		return k.Checkpoints[n-1].Offset
	}
	return 0
}

// Of reports whether k is a merge of plan p, whose inputs may be in another order.
func (k *Kept) Of(p Plan) bool {
	return k.Erase == p.Erase && len(k.Inputs) == len(p.Inputs) && k.InputsIn(p.Inputs)
}

// InputsIn reports whether all inputs are among some tables.
func (k *Kept) InputsIn(tables []catalog.Table) bool {
	for _, in := range k.Inputs {
		if !slices.Contains(tables, in) {
			return false
		}
	}
	return true
}

var keptSums = crc32.MakeTable(crc32.Castagnoli)

// appendKept appends a record.
func appendKept(b, payload []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, keptSums))
	return append(b, payload...)
}

// cutKept returns the first record of b, and the rest; nil if it is not whole.
func cutKept(b []byte) (payload, rest []byte) {
	if len(b) < 8 {
		return nil, nil
	}
	n, sum := uint64(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
	if b = b[8:]; n > uint64(len(b)) || n < 8 || crc32.Checksum(b[:n], keptSums) != sum {
		return nil, nil
	}
	return b[:n], b[n:]
}

// ReadKept returns the merge that was interrupted, nil if there is none that can go on.
func (f *Folder) ReadKept() (*Kept, error) {
	if _, err := f.Dir.Stat(files.Merge); err != nil {
		return nil, nil
	}
	file, err := f.Dir.Open(files.Merge)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, size), b); err != nil {
		return nil, err
	}
	head, b := cutKept(b)
	k := &Kept{size: int64(8 + len(head))}
	if head == nil || json.Unmarshal(head, k) != nil || k.Identity.Database != f.UUID {
		return nil, nil
	}
	for {
		var payload []byte
		if payload, b = cutKept(b); payload == nil {
			break
		}
		k.Checkpoints = append(k.Checkpoints, sstable.Checkpoint{Offset: int64(binary.LittleEndian.Uint64(payload)), Data: payload[8:]})
		k.size += int64(8 + len(payload))
	}
	if k.Offset() == 0 {
		return nil, nil
	}
	return k, nil
}

// DropKept removes an interrupted merge; its table, too, unless that has been published.
func (f *Folder) DropKept(k *Kept, published bool) error {
	err := files.RemoveIfThere(f.Dir, files.Merge)
	if !published {
		err = errors.Join(err, files.RemoveIfThere(f.Dir, files.NewTableName(k.Identity.Number)))
	}
	return err
}

// Merging writes the table of a merge from a Kept on, whose Checkpoints it goes on from.
type Merging func(out io.Writer, k *Kept, checkpoint func(sstable.Checkpoint)) (sstable.Info, error)

// CreateKept is Create for a merge of which so much as is done stays when it is interrupted. It
// goes on with k, if that is not nil, and returns what can be gone on with after an error for which
// keep returns true; nil otherwise. Once the table was published, the caller calls DropKept.
func (f *Folder) CreateKept(ctx context.Context, k *Kept, p Plan, keep func(error) bool, merge Merging) (*view.Table, *Kept, error) {
	var file vfs.File
	var err error
	if k != nil {
		file, err = f.reopenKept(ctx, k)
		if err != nil && ctx.Err() != nil {
			return nil, k, ctx.Err()
		}
		if err != nil {
			f.Log.Warn("an interrupted merge cannot go on", "path", f.Path, "table", k.Identity.Number, "err", err)
			if err := f.DropKept(k, false); err != nil {
				return nil, nil, err
			}
			k = nil
		}
	}
	if k == nil {
		k = &Kept{Plan: p, Identity: f.newIdentity()}
		if file, err = f.Dir.Create(files.NewTableName(k.Identity.Number)); err != nil {
			return nil, nil, err
		}
	}
	info, err := f.writeKept(file, k, merge)
	if errors.Is(err, sstable.ErrNotResumable) {
		f.Log.Info("an interrupted merge begins anew", "path", f.Path, "table", k.Identity.Number)
		if err := f.DropKept(k, false); err != nil {
			return nil, nil, err
		}
		return f.CreateKept(ctx, nil, p, keep, merge)
	}
	if err == nil {
		err = f.Dir.SyncDir(".")
	}
	var t *view.Table
	if err == nil {
		t, err = f.Open(Meta(k.Identity.Number, info), files.NewTableName(k.Identity.Number))
	}
	switch {
	case err == nil:
		return t, k, nil
	case keep(err) && k.Offset() > 0:
		return nil, k, err
	}
	full := vfs.IsFull(err)
	err = errors.Join(err, f.DropKept(k, false))
	if full {
		err = &vfs.NoRoomError{Err: err}
	}
	return nil, nil, err
}

// reopenKept opens the unfinished table of an interrupted merge, cut to what is of use. It compares
// that with its checksums.
func (f *Folder) reopenKept(ctx context.Context, k *Kept) (vfs.File, error) {
	file, err := f.Dir.Append(files.NewTableName(k.Identity.Number))
	if err != nil {
		return nil, err
	}
	if err = sstable.VerifyCheckpoints(contextReader{ctx, file}, k.Checkpoints); err == nil {
		err = file.Truncate(k.Offset())
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	io.ReaderAt
}

func (r contextReader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, off)
}

// writeKept writes the table of a merge to a file, which it closes, and adds the checkpoints to k
// that are stored safely.
func (f *Folder) writeKept(file vfs.File, k *Kept, merge Merging) (sstable.Info, error) {
	c := newKeeper(f, file, k)
	info, err := writeTable(c, func(out io.Writer) (sstable.Info, error) { return merge(out, k, c.add) })
	if e := c.close(); err == nil {
		err = e
	}
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	k.Checkpoints = c.kept.Checkpoints
	return info, err
}

// A keeper writes an unfinished table and notes its checkpoints: once the bytes of one have been
// written, a goroutine syncs them and then adds its record, while the merge goes on.
type keeper struct {
	out    io.Writer
	folder *Folder
	file   vfs.File
	kept   Kept     // what is stored safely
	record vfs.File // nil until there is one

	mu      sync.Mutex
	written int64
	waiting []sstable.Checkpoint // whose bytes may not have been written
	wake    chan struct{}
	done    chan struct{}
	err     error // of syncing the table; final
}

func newKeeper(f *Folder, file vfs.File, k *Kept) *keeper {
	c := &keeper{
		out: storedEarly(file, k.Offset()), folder: f, file: file, kept: *k.Brief(), written: k.Offset(),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go c.run()
	return c
}

// Write writes to the table.
func (c *keeper) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written += int64(n)
	if len(c.waiting) > 0 && c.waiting[0].Offset <= c.written {
		c.signal()
	}
	if err == nil {
		err = c.err
	}
	return n, err
}

// add notes a checkpoint that was reached.
func (c *keeper) add(p sstable.Checkpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, p)
}

// signal has run look for what can be stored.
func (c *keeper) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run stores checkpoints until close.
func (c *keeper) run() {
	defer close(c.done)
	for range c.wake {
		c.mu.Lock()
		n := 0
		for n < len(c.waiting) && c.waiting[n].Offset <= c.written {
			n++
		}
		ready := slices.Clone(c.waiting[:n])
		c.waiting = c.waiting[n:]
		c.mu.Unlock()
		if n == 0 {
			continue
		}
		if err := c.file.Sync(); err != nil { // what was not stored may be taken for stored by the next
			c.mu.Lock()
			c.err = err
			c.mu.Unlock()
			return
		}
		if err := c.store(ready); err != nil { // the merge goes on; what was noted before stays of use
			c.folder.Log.Warn("noting how far a merge is", "path", c.folder.Path, "err", err)
			return
		}
	}
}

// store adds records of checkpoints whose bytes are stored safely.
func (c *keeper) store(ready []sstable.Checkpoint) error {
	var b []byte
	if c.record == nil {
		var err error
		if len(c.kept.Checkpoints) > 0 {
			c.record, err = c.folder.reopenRecord(&c.kept)
		} else {
			c.record, err = c.folder.createRecord(&c.kept)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range ready {
		b = appendKept(b, append(binary.LittleEndian.AppendUint64(nil, uint64(p.Offset)), p.Data...))
	}
	if _, err := c.record.Write(b); err != nil {
		return err
	}
	if err := c.record.Sync(); err != nil {
		return err
	}
	for _, p := range ready { // a directory is in memory only once
		c.kept.Checkpoints = append(c.kept.Checkpoints, sstable.Checkpoint{Offset: p.Offset})
	}
	return nil
}

// createRecord creates the file MERGE of a merge that has begun.
func (f *Folder) createRecord(k *Kept) (file vfs.File, err error) {
	if err := files.RemoveIfThere(f.Dir, files.Merge); err != nil {
		return nil, err
	}
	head, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	if file, err = f.Dir.Create(files.Merge); err != nil {
		return nil, err
	}
	if _, err = file.Write(appendKept(nil, head)); err == nil {
		err = f.Dir.SyncDir(".") // also the name of the table
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// reopenRecord opens the file MERGE, cut to what was read of it.
func (f *Folder) reopenRecord(k *Kept) (vfs.File, error) {
	file, err := f.Dir.Append(files.Merge)
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(k.size); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// close ends the goroutine, and returns the error of syncing the table.
func (c *keeper) close() error {
	close(c.wake)
	<-c.done
	if c.record != nil {
		if err := c.record.Close(); err != nil {
			c.folder.Log.Warn("noting how far a merge is", "path", c.folder.Path, "err", err)
		}
	}
	if c.err != nil {
		return fmt.Errorf("storing a merge: %w", c.err)
	}
	return nil
}
