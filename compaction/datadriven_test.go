package compaction

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/golden"
)

// TestData runs the files of testdata. A file has cases, with an empty line after each:
//
//	pick|plan [option=value ...]
//	number size=1M [docs=100] [dead=0] [time=0h..0h] [times=1h,2h,...] [held] [damaged]
//	----
//	jobs
//
// plan prints all Jobs, pick the most urgent, which Pick returns. Times are in hours. Run with
// -update to write the jobs.
func TestData(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cases := strings.Split(strings.TrimSpace(string(text)), "\n\n")
		for i, c := range cases {
			in, _, _ := strings.Cut(c, "\n----")
			got := ""
			for _, j := range runCase(t, in) {
				got += "\n" + j
			}
			cases[i] = in + "\n----" + got
		}
		golden.Compare(t, path, strings.Join(cases, "\n\n")+"\n")
	}
}

func runCase(t *testing.T, in string) (jobs []string) {
	var tables []Table
	var o Options
	command := ""
	for line := range strings.SplitSeq(in, "\n") {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case command == "":
			command = words[0]
			parseOptions(t, &o, words[1:])
		default:
			tables = append(tables, parseTable(t, words))
		}
	}
	if command != "pick" && command != "plan" {
		t.Fatalf("no command %q", command)
	}
	for j := range Jobs(tables, o, 0) {
		if jobs = append(jobs, fmt.Sprintf("%s %v", j.Reason, j.Tables)); command == "pick" {
			break
		}
	}
	return jobs
}

func parseOptions(t *testing.T, o *Options, words []string) {
	now := int64(0)
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "fanout":
			o.Fanout = int(quantityOf(t, value))
		case "max-bytes":
			o.MaxBytes = quantityOf(t, value)
		case "max-docs":
			o.MaxDocs = quantityOf(t, value)
		case "max-tables":
			o.MaxTables = int(quantityOf(t, value))
		case "windows":
			o.Windows = int(quantityOf(t, value))
		case "ttl":
			o.TTL = quantityOf(t, value)
		case "now":
			now = quantityOf(t, value)
		default:
			t.Fatalf("no option %q", w)
		}
	}
	if o.TTL > 0 {
		o.Expired = now - o.TTL
	}
}

func parseTable(t *testing.T, words []string) Table {
	table := Table{Number: uint64(quantityOf(t, words[0])), Docs: 100}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "size":
			table.Size = quantityOf(t, value)
		case "docs":
			table.Docs = quantityOf(t, value)
		case "dead":
			table.Dead = quantityOf(t, value)
		case "time":
			from, to, _ := strings.Cut(value, "..")
			table.MinTime, table.MaxTime = quantityOf(t, from), quantityOf(t, to)
		case "times":
			for v := range strings.SplitSeq(value, ",") {
				table.Times = append(table.Times, quantityOf(t, v))
			}
		case "held":
			table.Held = true
		case "damaged":
			table.Damaged = true
		default:
			t.Fatalf("a table has no %q", w)
		}
	}
	return table
}

// quantityOf parses a number with K, M or G for powers of 1024, or h for an hour in microseconds.
func quantityOf(t *testing.T, s string) int64 {
	unit := map[byte]int64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'h': 3600e6}[s[len(s)-1]]
	n, err := strconv.ParseFloat(strings.TrimRight(s, "KMGh"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(n * float64(max(unit, 1)))
}
