package table

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Describe writes the layout of the table for a human reader: parameters, ranges of times and
// sequence numbers, and for each section its offset, its size in bytes and its bits per element.
func (r *Reader) Describe(w io.Writer) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	i := &r.t.Info
	fmt.Fprintf(w, "%s: .sst format version %d, %d bytes, checksum %08x\n", r.t.File, i.Version, i.Size, i.Checksum)
	fmt.Fprintf(w, "parameters    %v\n", r.t.Params)
	if d := i.Identity; d != (format.Identity{}) {
		fmt.Fprintf(w, "database      %x, table %d, written %s\n", d.Database, d.Number, showTime(d.Created))
	}
	fmt.Fprintf(w, "documents     %d\n", i.Docs)
	fmt.Fprintf(w, "fingerprints  %d, %d distinct\n", i.Fingerprints, i.Distinct)
	if i.Docs > 0 {
		fmt.Fprintf(w, "times         %s to %s\n", showTime(i.MinTime), showTime(i.MaxTime))
		fmt.Fprintf(w, "writes        %d to %d\n", i.MinSeq, i.MaxSeq)
		fmt.Fprintf(w, "cost          %.1f bytes a document, %.2f of them without blocks\n", per(i.Size, i.Docs),
			per(i.Size-r.blocksLength(), i.Docs))
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "offset\tsize\tcount\tbits each\t  section\n")
	fmt.Fprintf(t, "0\t%d\t\t\t  header\n", format.HeaderSize)
	for j := range i.Sections {
		s := &i.Sections[j]
		each := ""
		if s.Kind&^format.DirFlag >= format.KindTimes && s.Kind != format.KindEarly {
			each = bitsEach(s.Length, s.Count)
		}
		fmt.Fprintf(t, "%d\t%d\t%d\t%s\t  %s\n", s.Offset, s.Length, s.Count, each, r.detail(s))
	}
	end := i.Size - format.TailSize
	if n := len(i.Sections); n > 0 {
		end = format.Align(i.Sections[n-1].Offset + i.Sections[n-1].Length)
	}
	fmt.Fprintf(t, "%d\t%d\t%d\t\t  directory\n", end, i.Size-format.TailSize-end, len(i.Sections))
	fmt.Fprintf(t, "%d\t%d\t\t\t  trailer\n", i.Size-format.TailSize, format.TailSize)
	return t.Flush()
}

// detail names a section and describes its contents.
func (r *Reader) detail(s *format.Section) string {
	stats := func(st keyrun.Stats) string {
		if st.Values == 0 {
			return s.Name()
		}
		d := fmt.Sprintf("%s: %d blocks; packed %s, unary %s", s.Name(), st.Blocks, bitsEach(st.Low, s.Count), bitsEach(st.High, s.Count))
		if st.Paired > 0 {
			d += ", values " + bitsEach(st.Paired, s.Count)
		}
		return d + fmt.Sprintf(", directory %s, checksums %s", bitsEach(st.Directory, s.Count), bitsEach(st.Checksums, s.Count))
	}
	switch s.Kind {
	case format.KindBlocks:
		if s.Index > 0 {
			return s.Name()
		}
		return r.blocksDetail()
	case format.KindPostings:
		return stats(r.t.Sketches.PostingsStats(int(s.Index)))
	case format.KindRun:
		return stats(r.t.RunAt(s.Index).Stats())
	case format.KindWords:
		return stats(r.t.Words[s.Index-1].Column.Stats())
	case format.KindIDs:
		return stats(r.t.IDs.Stats())
	case format.KindTimes:
		if s.Index == format.Expiries {
			return stats(r.t.Expiries.Stats())
		}
		return stats(r.t.Times.Stats())
	case format.KindSeqs:
		return stats(r.t.Seqs.Stats())
	case format.KindRanks:
		return stats(r.t.Ranks.Stats())
	case format.KindPlaces:
		return stats(r.t.Places.Stats())
	case format.KindSetSizes:
		return stats(r.t.Sets.Sizes.Stats())
	case format.KindSets:
		return stats(r.t.Sets.Keys.Stats())
	case format.KindValueDocs:
		return stats(r.t.Fields[s.Index].Docs.Stats())
	case format.KindIDOrder:
		if o, err := r.t.IDOrder(); err == nil && o.Column != nil {
			return stats(o.Column.Stats())
		}
	}
	return s.Name()
}

// blocksDetail says how many bytes of the section of blocks are names, records and sketches.
func (r *Reader) blocksDetail() string {
	names := r.t.Names.Size()
	var stored, raw int64
	if r.t.Records != nil {
		stored, raw = r.t.Records.Sizes()
	}
	s := fmt.Sprintf("%s: names %d bytes (%.1f a document)", format.KindBlocks, names, per(names, r.t.Info.Docs))
	if r.t.Sketches != nil && r.t.Sketches.List() != nil {
		sketches := r.t.Sketches.List().Size()
		s += fmt.Sprintf(", sketches %d bytes (%.1f)", sketches, per(sketches, r.t.Info.Docs))
	}
	s += fmt.Sprintf(", texts %d bytes", stored)
	if stored > 0 {
		s += fmt.Sprintf(" (%.2f times smaller than the %d they were)", float64(raw)/float64(stored), raw)
	}
	return s
}

// blocksLength returns the bytes of all sections of blocks.
func (r *Reader) blocksLength() (n int64) {
	for i := range r.t.Info.Sections {
		if s := &r.t.Info.Sections[i]; s.Kind == format.KindBlocks {
			n += s.Length
		}
	}
	return n
}

// per returns n per document, 0 if there are no documents.
func per(n int64, docs uint32) float64 { return float64(n) / float64(max(docs, 1)) }

// bitsEach formats the average number of bits per element, "" if count is 0.
func bitsEach(size int64, count uint64) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", 8*float64(size)/float64(count))
}

// showTime formats microseconds since the Unix epoch.
func showTime(t int64) string { return time.UnixMicro(t).UTC().Format("2006-01-02T15:04:05.999999Z") }
