package dedup

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records/inputs"
)

// licenses writes the example file of licences without compression.
func licenses(t *testing.T) string {
	t.Helper()
	f, err := os.Open("../examples/licenses.jsonl.gz")
	must.Do(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must.Do(t, err)
	data, err := io.ReadAll(z)
	path := filepath.Join(t.TempDir(), "licenses.jsonl")
	if err = errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRun compares a Result with the outputs of Write: the copies, the audit and the counts.
func TestRun(t *testing.T) {
	path := licenses(t)
	for name, job := range map[string]Job{
		"default": {}, "near": {By: engine.Near(6), Figures: true}, "longest": {By: engine.Jaccard(0.7), Keep: Keep{Longest, Last}},
		"none": {Keep: Keep{None}}, "verified": {By: engine.Near(10), Verify: 0.6}, "within": {By: engine.Within(0.9)},
	} {
		dir := t.TempDir()
		whole := job
		whole.Output = filepath.Join(dir, "kept.jsonl")
		want, err := whole.Write(t.Context(), &inputs.Env{}, []string{path})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := job.Run(t.Context(), Files(path))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Report.Kept != want.Kept || r.Report.Dropped != want.Dropped || r.Report.Clusters != want.Clusters || r.Report.By != want.By {
			t.Errorf("%s: %+v, want %+v", name, r.Report, *want)
		}
		var copied bytes.Buffer
		if err := r.Copy(t.Context(), &copied); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		written, err := os.ReadFile(whole.Output)
		if err != nil || !bytes.Equal(copied.Bytes(), written) {
			t.Errorf("%s: the copies differ from those of Write, %v", name, err)
		}
		audit, err := os.ReadFile(filepath.Join(dir, "kept.audit.jsonl"))
		must.Do(t, err)
		_, rows, _ := strings.Cut(string(audit), "\n")
		var got strings.Builder
		for row, err := range r.Dropped(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&got, row)
		}
		if got.String() != rows {
			t.Errorf("%s: the dropped rows differ from the audit", name)
		}
		if n := len(slices.Collect(r.Kept())); int64(n) != want.Kept {
			t.Errorf("%s: %d kept, want %d", name, n, want.Kept)
		}
		for range r.Dropped(t.Context()) {
			break
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOutputKeepsInputs names files that the job reads as outputs: nothing is written.
func TestOutputKeepsInputs(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	const lines = `{"id":"1","text":"a b c d e"}` + "\n" + `{"id":"2","text":"a b c d e"}` + "\n"
	for _, name := range []string{"in.jsonl", "known.jsonl"} {
		must.Do(t, os.WriteFile(path(name), []byte(lines), 0o600))
	}
	const decisions = `{"a":"1","b":"2","decision":"allow"}` + "\n"
	must.Do(t, os.WriteFile(path("d.jsonl"), []byte(decisions), 0o600))
	must.Do(t, os.Link(path("in.jsonl"), path("link.jsonl")))
	for name, job := range map[string]Job{
		"input": {Output: path("in.jsonl")}, "link": {Output: path("link.jsonl")}, "audit": {Output: path("out.jsonl"), Audit: path("in.jsonl")},
		"clusters": {Output: path("out.jsonl"), Clusters: path("in.jsonl")}, "known": {Output: path("known.jsonl"), Against: []string{path("known.jsonl")}},
		"decisions": {Output: path("d.jsonl"), Decisions: path("d.jsonl")}, "folder": {Output: dir + "/", Against: []string{path("known.jsonl")}},
	} {
		for _, arg := range []string{path("in.jsonl"), path("i*.jsonl")} {
			job.NoAudit = job.Audit == ""
			if _, err := job.Write(t.Context(), &inputs.Env{}, []string{arg}); err == nil {
				t.Errorf("%s is written over", name)
			}
		}
	}
	for name, want := range map[string]string{"in.jsonl": lines, "known.jsonl": lines, "d.jsonl": decisions} {
		if got, err := os.ReadFile(path(name)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
}

// TestCheckPairs sets pairs of options that exclude each other.
func TestCheckPairs(t *testing.T) {
	for _, job := range []Job{
		{Verify: 0.5}, {By: engine.Jaccard(0.8), Verify: 0.5}, {By: engine.Within(0.8), Decisions: "d"}, {MinCount: 3}, {All: true},
		{Level: Line, By: engine.Near(3)}, {Level: Line, Keep: Keep{Last}}, {By: engine.Cosine(0.9), Compared: inputs.Compared{Shingle: 4}},
		{NoAudit: true, Audit: "a"}, {By: engine.Jaccard(1.5)}, {By: engine.Contains(0.5)}, {By: engine.Near(-1)}, {Keep: Keep{None, First}},
		{Across: "file", WithinField: "a"}, {Level: "word"}, {Level: Passage, MinCount: 1}, {By: engine.Near(3), Verify: 2},
	} {
		if err := job.Check(); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", job, err)
		}
		if _, err := job.Run(t.Context(), Files("none.jsonl")); err == nil {
			t.Errorf("%+v runs", job)
		}
	}
	for _, compared := range []inputs.Compared{
		{Bits: 100}, {Bits: 2048}, {Bits: -64}, {Shingle: -1}, {Shingle: 70000}, {Features: engine.Features{Mask: []string{"("}}},
	} {
		if _, err := (Job{Compared: compared}).Run(t.Context(), Strings(slices.Values([]string{"a b c"}))); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", compared, err)
		}
	}
	if _, err := (&Job{}).Write(t.Context(), &inputs.Env{}, nil); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("no files: %v", err)
	}
	for _, job := range []Job{{}, {By: engine.Near(6), Verify: 0.7, Keep: Keep{Max("score"), First}}, {Level: Line, MinCount: 3}, {All: true, Columns: Columns{"cluster"}}} {
		if err := job.Check(); err != nil {
			t.Errorf("%+v: %v", job, err)
		}
	}
}

// Drops texts that resemble an earlier text.
func ExampleJob_Run() {
	texts := []string{
		"the quick brown fox jumps over the lazy dog near the old mill",
		"the quick brown fox jumps over the lazy dog near the old mill today",
		"an entirely different sentence about something else that nobody has read",
	}
	result, err := Job{By: engine.Jaccard(0.7)}.Run(context.Background(), Strings(slices.Values(texts)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer result.Close()
	for n := range result.Kept() {
		fmt.Println(texts[n])
	}
	for row, err := range result.Dropped(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s is like %s: %.2f\n", *row.ID, *row.Keeper, *row.Score)
	}
	// Output:
	// the quick brown fox jumps over the lazy dog near the old mill
	// an entirely different sentence about something else that nobody has read
	// 1 is like 0: 0.92
}
