package format

import (
	"bytes"
	"encoding/binary"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// KindSummaries has the summary (keyrun.AppendTop) of each directory of a run or a column, one after
// the other, in the order of the directories in the file. It is the last section, so that one read of
// the end of a file is enough to open a table that is not on this machine. Tables whose directories
// have one page each have no summaries.

// IsSummarized reports whether summaries have one of a section.
func (s Section) IsSummarized() bool {
	kind := s.Kind &^ DirFlag
	return kind != s.Kind && kind.HasDir() && kind != KindValues
}

// needFooter reads directory and trailer of a table that is not on this machine. It reads the header,
// which repeats the trailer, only if that is damaged, and reports whether it has not.
func (r *Table) needFooter() (headless bool) {
	size := int64(len(r.Data))
	if !r.Pages.IsRemote() {
		return false
	}
	t := max(0, size-TailSize)
	if r.Pages.Need(t, size); !bytes.HasSuffix(r.Data, []byte(Magic)) || size < HeaderSize+TailSize {
		r.Pages.Need(0, min(size, HeaderSize))
		return false
	}
	if off := binary.LittleEndian.Uint64(r.Data[t:]); off < uint64(size) {
		r.Pages.Need(int64(off), size)
	}
	return true
}

// openSummaries reads the summaries, if the table has any.
func (r *Table) openSummaries() error {
	all := r.Section(KindSummaries, 0)
	if all == nil {
		return nil
	}
	r.Pages.Need(all.Offset, all.Offset+all.Length)
	rest := r.Bytes(all)
	if kernel.CRC32C(0, rest) != all.Checksum {
		return base.Corruptf(r.File, all.Name(), all.Offset, "wrong checksum of the section")
	}
	r.tops = map[[2]uint16][]byte{}
	for _, s := range r.Info.Sections {
		if !s.IsSummarized() {
			continue
		}
		if s.Length < keyrun.DirSize(0) || keyrun.TopSize(s.Length) > int64(len(rest)) {
			return base.Corruptf(r.File, all.Name(), all.Offset, "no summary of section %s", s.Name())
		}
		n := keyrun.TopSize(s.Length)
		r.tops[[2]uint16{uint16(s.Kind &^ DirFlag), s.Index}], rest = rest[:n:n], rest[n:]
	}
	if len(rest) > 0 {
		return base.Corruptf(r.File, all.Name(), all.Offset, "%d bytes after the summaries", len(rest))
	}
	return nil
}

// Whole reads all of a table that is not on this machine.
func (r *Table) Whole() {
	if !r.Pages.IsRemote() {
		return
	}
	r.Pages.Whole()
	runs, columns := append([]*keyrun.Run{r.IDs, r.Seqs}, r.Runs...), []*keyrun.Column{r.Times, r.Expiries, r.Ranks, r.Places}
	for _, w := range r.Words {
		runs, columns = append(runs, w.Runs...), append(columns, w.Column)
	}
	if r.Sets != nil {
		runs, columns = append(runs, r.Sets.Keys), append(columns, r.Sets.Sizes)
	}
	for _, l := range r.Fields {
		columns = append(columns, l.Docs)
	}
	for _, run := range runs {
		run.LoadDirectory()
	}
	for _, c := range columns {
		if c != nil {
			c.LoadDirectory()
		}
	}
}
