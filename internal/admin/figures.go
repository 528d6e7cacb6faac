package admin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query"
)

// database returns the rows of stats about the database.
func database(s engine.Stats) []query.Row {
	rows := []query.Row{
		{"path", s.Path},
		{"documents", s.Documents},
		{"fingerprints", s.Fingerprints},
		{"tombstones", s.Tombstones},
		{"expired", s.Expired},
		{"space_amplification", fmt.Sprintf("%.3f", s.SpaceAmplification)},
		{"memtable", s.Memtable},
		{"tables", len(s.Tables)},
		{"disk_bytes", s.DiskBytes},
		{"seq", json.RawMessage(strconv.FormatUint(s.Seq, 10))},
	}
	return append(rows, params(s.Tokenizer, s.Options)...)
}

// params returns the rows about the parameters of a database: a name and a value each.
func params(tokenizer int, p engine.Options) []query.Row {
	rows := []query.Row{
		{"tokenizer", tokenizer}, {"shingle", p.Shingle}, {"bits", p.Bits}, {"layout", p.Layout}, {"sketch", p.Sketch},
		{"min_jaccard", p.MinJaccard}, {"text", !p.NoText}, {"ttl", p.TTL.String()},
	}
	if of := p.Features.Describe(); of != "" {
		rows = append(rows, query.Row{"features", of})
	}
	if p.Containment {
		rows = append(rows, query.Row{"containment", true})
	}
	if len(p.Index) > 0 {
		rows = append(rows, query.Row{"index", strings.Join(p.Index, ", ")})
	}
	return rows
}

// work returns the rows of stats about the work since the database was opened; none if no table was
// written.
func work(m engine.Metrics) []query.Row {
	if m.Flushes+m.Compactions+m.BytesLoaded == 0 {
		return nil
	}
	return []query.Row{
		{"flushes", m.Flushes},
		{"merges", m.Compactions},
		{"merge_time", m.CompactionTime.Round(time.Millisecond).String()},
		{"write_amplification", fmt.Sprintf("%.2f", m.WriteAmplification)},
		{"stalls", m.Stalls},
		{"stall_time", m.StallTime.Round(time.Millisecond).String()},
		{"slow_time", m.SlowTime.Round(time.Millisecond).String()},
	}
}

// cached returns the row of stats about the cache of texts and fields; none if nothing was read.
func cached(m engine.Metrics) []query.Row {
	blocks := m.CacheHits + m.CacheMisses
	if blocks == 0 {
		return nil
	}
	return []query.Row{{"cache", fmt.Sprintf("%d of %d bytes, %.1f %% of %s found", m.CacheBytes, m.CacheSize,
		100*float64(m.CacheHits)/float64(blocks), quantity.Plain(int(blocks), "read", "reads"))}}
}

// merges returns a row for each merge that is running or has ended recently.
func merges(running, past []engine.Event) (rows []query.Row) {
	for _, m := range past {
		what := fmt.Sprintf("%s, %d bytes, %s", quantity.Plain(m.Docs, "document", "documents"), m.Bytes, m.Duration.Round(time.Millisecond))
		if m.Err != nil {
			what = "failed: " + m.Err.Error()
		}
		rows = append(rows, query.Row{"merge " + mergeTables(m), fmt.Sprintf("%s: %s", m.Reason, what)})
	}
	for _, m := range running {
		rows = append(rows, query.Row{"merging " + mergeTables(m), fmt.Sprintf("%s: %d bytes, %.0f %% in %s", m.Reason, m.InputBytes, 100*m.Done, m.Duration.Round(time.Millisecond))})
	}
	return rows
}

// mergeTables names the tables of a merge, as "000003 000004 > 000007".
func mergeTables(m engine.Event) string {
	var b strings.Builder
	for _, n := range m.Tables {
		fmt.Fprintf(&b, "%06d ", n)
	}
	if m.Output == 0 {
		return strings.TrimSpace(b.String())
	}
	fmt.Fprintf(&b, "> %06d", m.Output)
	return b.String()
}

// tables returns the rows of stats about the tables and orphans.
func tables(s engine.Stats) (rows []query.Row) {
	for _, t := range s.Tables {
		what := fmt.Sprintf("%s, %s, %d bytes, layout %s, %.2f bytes/fingerprint",
			quantity.Plain(t.Documents, "document", "documents"), quantity.Plain(t.Tombstones, "tombstone", "tombstones"),
			t.Bytes, t.Layout, t.BytesPerFingerprint)
		if t.Damage != "" {
			what += ", no longer merged: " + t.Damage
		}
		rows = append(rows, query.Row{"table " + t.Name, what})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Orphans)) {
		rows = append(rows, query.Row{"orphan " + name, fmt.Sprintf("%d bytes, not part of the database: ingest it, or remove it", s.Orphans[name])})
	}
	return rows
}
