package sstable

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/simdb/simdb/sstable/internal/crc"
)

// A merge that is interrupted can go on from a Checkpoint. It lists the sections that were finished
// since the one before, with the directories that are not in the file yet; so all checkpoints of a
// merge together say what is in the file up to Offset, and what a merge has in memory besides. Only
// the numbers and ranks of documents are made again, from the same inputs, without being written.

// ErrNotResumable is why a merge cannot go on from checkpoints: they, or the bytes that they
// describe, are damaged, or are of another merge.
var ErrNotResumable = errors.New("not the beginning of this merge")

// A Checkpoint is a moment of a merge at which its result has only whole sections.
type Checkpoint struct {
	Offset int64  // bytes of the result that it describes
	Data   []byte // opaque, of this version of the program
}

// checkpoint is what a Checkpoint holds. Its fields are exported for their encoding.
type checkpoint struct {
	Inputs   uint32 // digest of the inputs, and of what is left out of them
	Step     int    // mergeSteps that are done
	Runs     int    // permuted runs that are done
	Offset   int64
	Done     int64
	Sections []Section // since the checkpoint before
	Dirs     []keptDir // likewise
	Info     Info      // without the sections
	Placed   uint32
	Left     [][]uint64 // of each input, the set of what is left out; only in the first checkpoint
}

// keptDir is a pendingDir.
type keptDir struct {
	Kind  Kind
	Index uint16
	Count uint64
	Data  []byte
}

// mergeSteps are the steps of a merge, in order. What replay reports to be needed is done again by
// a merge that goes on behind it, since later steps use what it leaves in memory.
var mergeSteps = []struct {
	do     func(*merger) error
	replay func(m *merger, done int) bool // of the steps that are done; nil for never
}{
	{(*merger).copyRecords, func(_ *merger, done int) bool { return done <= stepBlocks }},
	{(*merger).mergeFingerprints, func(*merger, int) bool { return true }},
	{(*merger).mergeSeqs, func(_ *merger, done int) bool { return done <= stepRanks }},
	{do: (*merger).mergeTimes},
	{do: (*merger).mergeRanks},
	{do: (*merger).mergePlaces},
	{do: (*merger).mergeBlocks},
	{do: (*merger).mergeRuns},
	{do: (*merger).mergeSieve},
	{do: (*merger).mergeIDs},
}

// mergeVersion changes with what a merge writes or remembers: another version does not go on.
const mergeVersion = 2

// Places in mergeSteps.
const (
	stepTimes  = 3
	stepRanks  = 4
	stepBlocks = 6
)

// checkpointed tells the caller that the steps before step are done, and of its runs so many.
func (m *merger) checkpointed(step, runs int) error {
	if m.o.Checkpoint == nil || m.out.err != nil {
		return m.fail(m.out.err)
	}
	c := checkpoint{
		Inputs: m.inputsDigest(), Step: step, Runs: runs, Offset: m.out.off, Done: m.done,
		Sections: m.out.sections[m.noted.sections:], Info: m.info, Placed: m.placed,
	}
	if m.noted.sections == 0 {
		for _, in := range m.inputs {
			c.Left = append(c.Left, in.dead)
		}
	}
	for _, d := range m.out.dirs[m.noted.dirs:] {
		c.Dirs = append(c.Dirs, keptDir{d.kind, d.index, d.count, d.data})
	}
	m.noted.sections, m.noted.dirs = len(m.out.sections), len(m.out.dirs)
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(c); err != nil {
		return m.fail(err)
	}
	m.o.Checkpoint(Checkpoint{Offset: c.Offset, Data: b.Bytes()})
	return nil
}

// inputsDigest is the digest of the inputs, and of what is left out of them.
func (m *merger) inputsDigest() uint32 {
	if m.digest == 0 {
		sum := crc.Sum(fmt.Appendf(nil, "%d %d %v %v %d %+v", mergeVersion, FormatVersion, m.params, m.erase, m.docs, m.info.Identity))
		for _, in := range m.inputs {
			sum = crc.Update(sum, fmt.Appendf(nil, "%d %x %d %d", in.info.Size, in.info.Checksum, in.SeqShift, len(in.dead)))
			sum = in.dead.digest(sum)
		}
		m.digest = max(sum, 1)
	}
	return m.digest
}

// leaveOut leaves out what the checkpoints that the merge goes on from have left out, which must be
// left out now, too. What has come since stays in the result.
func (m *merger) leaveOut(all []Checkpoint) error {
	if len(all) == 0 {
		return nil
	}
	first, _, _, err := decodeCheckpoints(all[:1])
	if err != nil || len(first.Left) != len(m.inputs) {
		return errors.Join(ErrNotResumable, err)
	}
	for i, in := range m.inputs {
		left := bitset(first.Left[i])
		if len(left) == 0 {
			left = nil
		}
		if left != nil && len(left) != len(newBitset(in.NumDocs())) || !left.within(in.dead) || m.erase && !in.dead.within(left) {
			return ErrNotResumable
		}
		in.dead, in.kept, in.keptFP = left, in.NumDocs(), in.NumFingerprints()
		if left != nil {
			in.kept -= left.count(0, in.kept)
			in.keptFP -= left.count(0, in.keptFP)
		}
	}
	return nil
}

// within reports whether all members of b are in other.
func (b bitset) within(other bitset) bool {
	for i, w := range b {
		if other == nil && w != 0 || other != nil && w&^other[i] != 0 {
			return false
		}
	}
	return true
}

// digest continues a checksum with a set.
func (b bitset) digest(sum uint32) uint32 {
	var some [8 * 512]byte
	for len(b) > 0 {
		n := min(len(b), len(some)/8)
		for i, w := range b[:n] {
			for j := range 8 {
				some[8*i+j] = byte(w >> (8 * j))
			}
		}
		sum, b = crc.Update(sum, some[:8*n]), b[n:]
	}
	return sum
}

// resume puts the merge into the state of the last of the checkpoints that it goes on from, and
// returns the step that comes next.
func (m *merger) resume(all []Checkpoint) (step int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	last, sections, dirs, err := decodeCheckpoints(all)
	if err != nil {
		return 0, err
	}
	if last.Inputs != m.inputsDigest() || last.Step > len(mergeSteps) {
		return 0, ErrNotResumable
	}
	m.out.w, m.replaying = bufio.NewWriter(io.Discard), true
	for i, s := range mergeSteps[:last.Step] {
		if s.replay != nil && s.replay(m, last.Step) {
			if err := m.fail(m.guarded(func() error { return s.do(m) })); err != nil {
				return 0, err
			}
		}
		if i == stepBlocks { // all that they have left to write are directories
			m.records, m.names, m.sketches = nil, nil, nil
		}
	}
	m.replaying = false
	m.out = fileWriter{w: bufio.NewWriterSize(m.file, fileBuffer), off: last.Offset, sections: sections, dirs: dirs}
	m.noted.sections, m.noted.dirs = len(sections), len(dirs)
	m.info, m.runsDone, m.done, m.areas = last.Info, last.Runs, last.Done, 1
	m.placed = last.Placed
	if last.Step > stepTimes {
		m.rankSources, m.rankStarts = nil, nil
		for _, in := range m.inputs {
			in.deadRanks = nil
		}
	}
	return last.Step, nil
}

// decodeCheckpoints returns the last of the checkpoints, and the sections and directories of all.
func decodeCheckpoints(all []Checkpoint) (last checkpoint, sections []Section, dirs []pendingDir, err error) {
	for _, c := range all {
		last = checkpoint{}
		if err := gob.NewDecoder(bytes.NewReader(c.Data)).Decode(&last); err != nil || last.Offset != c.Offset {
			return last, nil, nil, errors.Join(ErrNotResumable, err)
		}
		sections = append(sections, last.Sections...)
		for _, d := range last.Dirs {
			dirs = append(dirs, pendingDir{d.Kind, d.Index, d.Count, d.Data})
		}
	}
	return last, sections, dirs, nil
}

// VerifyCheckpoints reads the beginning of a merge's result and compares it with the checksums of
// its checkpoints. It returns ErrNotResumable if they differ, or the error of reading.
func VerifyCheckpoints(r io.ReaderAt, all []Checkpoint) error {
	last, sections, _, err := decodeCheckpoints(all)
	if err != nil {
		return err
	}
	at, buf := int64(headerSize), make([]byte, 1<<20)
	if _, err := r.ReadAt(buf[:headerSize], 0); err != nil {
		return err
	}
	if !slices.Equal(buf[:headerSize], appendHeader(nil, last.Info.Version)) {
		return ErrNotResumable
	}
	for _, s := range sections {
		if gap := s.Offset - at; gap < 0 || gap >= alignment || s.Length < 0 {
			return ErrNotResumable
		} else if err := readZeros(r, buf[:gap], at); err != nil {
			return err
		}
		sum := uint32(0)
		for at = s.Offset; at < s.Offset+s.Length; {
			b := buf[:min(int64(len(buf)), s.Offset+s.Length-at)]
			if _, err := r.ReadAt(b, at); err != nil {
				return err
			}
			sum, at = crc.Update(sum, b), at+int64(len(b))
		}
		if sum != s.Checksum {
			return ErrNotResumable
		}
	}
	if at != last.Offset {
		return ErrNotResumable
	}
	return nil
}

// readZeros returns ErrNotResumable unless there are zeros at an offset; b is scratch.
func readZeros(r io.ReaderAt, b []byte, at int64) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := r.ReadAt(b, at); err != nil {
		return err
	}
	if slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) {
		return ErrNotResumable
	}
	return nil
}
