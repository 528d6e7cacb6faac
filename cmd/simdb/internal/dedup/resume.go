package dedup

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/setjoin"
)

// When all documents are compared, a run notes what it has decided in its temporary folder. If it
// is killed while it writes, --resume takes the note and goes on from there. The note has a key,
// made from all that the decisions depend on, the digests of the inputs among it, and a checksum.
// It is a help that nothing depends on: a note that cannot be written, or read, is left out.
//
//	8 bytes   noteMagic
//	16 bytes  the key
//	8 bytes   documents
//	8 bytes   of them, without words
//	lists     keepers, scores, distances; of recorded pairs: equal documents, pairs
//	8 bytes   XXH3 of all of this
//
// A list is 8 bytes with its length + 1, or 0 for none, and its elements. All is little-endian.

const (
	noteName  = "decided"
	noteMagic = "simdbDD1"
	noteBlock = 1 << 12 // elements that are written or read at once
)

// noteKey is what the decisions of a run depend on.
type noteKey struct {
	Version    string
	Parameters auditParameters
	Features   engine.Features
	Audit      bool
	AuditPairs bool
	Memory     app.Memory // of recorded pairs
	Inputs     []app.AuditInput
}

// key returns the key of the note, and false for a run that leaves none.
func (d *job) key() (key xxh3.Uint128, ok bool) {
	if d.c.Estimate || d.replay != nil || d.decided != nil || len(d.against) > 0 || d.Sources.Tree != nil || d.c.Level != units.Document {
		return key, false
	}
	inputs, err := d.digests.wait()
	if err != nil {
		return key, false
	}
	text, err := json.Marshal(noteKey{app.Version(), d.parameters(), d.features, d.c.auditPath() != "", d.c.AuditPairs, d.c.Memory, inputs})
	return xxh3.Hash128(text), err == nil
}

// leaveNote notes in the temporary folder what is decided.
func (d *job) leaveNote(dir string) {
	key, ok := d.key()
	if !ok {
		return
	}
	path := filepath.Join(dir, noteName)
	f, err := os.Create(path + ".part")
	if err != nil {
		return
	}
	if err = errors.Join(d.writeNote(f, key), f.Close()); err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		os.Remove(path + ".part")
	}
}

func (d *job) writeNote(f io.Writer, key xxh3.Uint128) error {
	b, sum := bufio.NewWriterSize(f, 64<<10), xxh3.New()
	w := io.MultiWriter(b, sum)
	if _, err := io.WriteString(w, noteMagic); err != nil {
		return err
	}
	g := d.pairs
	if g == nil {
		g = &setjoin.Graph{}
	}
	if err := binary.Write(w, binary.LittleEndian, [4]uint64{key.Hi, key.Lo, uint64(d.read), uint64(d.empty)}); err != nil {
		return err
	}
	err := errors.Join(writeList(w, d.out.keeper), writeList(w, d.out.score), writeList(w, d.out.distance), writeList(w, g.Same), writeList(w, g.Pairs))
	if err == nil {
		err = binary.Write(b, binary.LittleEndian, sum.Sum64())
	}
	return errors.Join(err, b.Flush())
}

func writeList[T any](w io.Writer, list []T) error {
	n := uint64(0)
	if list != nil {
		n = uint64(len(list)) + 1
	}
	err := binary.Write(w, binary.LittleEndian, n)
	for len(list) > 0 && err == nil {
		n := min(len(list), noteBlock)
		err = binary.Write(w, binary.LittleEndian, list[:n])
		list = list[n:]
	}
	return err
}

// note is what is read of one.
type note struct {
	read, empty int64
	out         outcome
	pairs       *setjoin.Graph // nil if none are recorded
}

// errNote is for a note of another run, or one that is damaged.
var errNote = errors.New("not the note of such a run")

// readNote reads the note of a run with this key.
func readNote(path string, key xxh3.Uint128) (*note, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, sum := bufio.NewReaderSize(f, 64<<10), xxh3.New()
	r := io.TeeReader(b, sum)
	magic, head := make([]byte, len(noteMagic)), [4]uint64{}
	if _, err := io.ReadFull(r, magic); err != nil {
		return nil, err
	}
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return nil, err
	}
	if string(magic) != noteMagic || head[0] != key.Hi || head[1] != key.Lo || head[2] > uint64(setjoin.MaxSets) {
		return nil, errNote
	}
	n, g := &note{read: int64(head[2]), empty: int64(head[3])}, &setjoin.Graph{}
	err = errors.Join(readList(r, &n.out.keeper, head[2]), readList(r, &n.out.score, head[2]), readList(r, &n.out.distance, head[2]),
		readList(r, &g.Same, head[2]), readList(r, &g.Pairs, math.MaxInt32))
	if err != nil {
		return nil, err
	}
	want := sum.Sum64()
	var got uint64
	if err := binary.Read(b, binary.LittleEndian, &got); err != nil || got != want {
		return nil, errors.Join(errNote, err)
	}
	if g.Same != nil {
		n.pairs = g
	}
	return n, nil
}

// readList reads a list of at most that many elements.
func readList[T any](r io.Reader, list *[]T, most uint64) error {
	var n uint64
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil || n == 0 {
		return err
	}
	if n--; n > most {
		return errNote
	}
	*list = []T{}
	for n > 0 {
		block := make([]T, min(n, noteBlock))
		if err := binary.Read(r, binary.LittleEndian, block); err != nil {
			return err
		}
		*list, n = append(*list, block...), n-uint64(len(block))
	}
	return nil
}

// salvage moves the note of a killed run from its temporary folder to that of this one.
func (d *job) salvage(left, dir string) {
	if !d.c.Resume {
		return
	}
	to := filepath.Join(dir, noteName+"-of-"+filepath.Base(left))
	if os.Rename(filepath.Join(left, noteName), to) == nil {
		d.notes = append(d.notes, to)
	}
}

// resume takes over what a killed run has decided, and reports whether there is such a run. The
// inputs are read for what is not in its note: the values that --keep compares, and what cannot be
// used.
func (d *job) resume() (bool, error) {
	key, ok := d.key()
	var n *note
	for _, path := range d.notes {
		if found, err := readNote(path, key); ok && err == nil {
			n = found
		}
	}
	if n == nil {
		d.a.Say("no killed run has left its decisions about these files; all is compared")
		return false, nil
	}
	if err := d.readAll(func(*input.Record) error { return nil }); err != nil {
		return true, err
	}
	if d.read != n.read {
		return true, app.ErrChanged
	}
	d.a.Say("resumed after all documents were compared")
	d.out, d.pairs, d.empty = n.out, n.pairs, n.empty
	return true, d.out.numberClusters(d.a.Context())
}
