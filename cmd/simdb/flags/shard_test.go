package flags

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/cmd/simdb/internal/verbs"
	"github.com/simdb/simdb/dedup/shard"
	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records/inputs"
)

func plan(t *testing.T, args ...string) (shard.Options, error) {
	o, err := Shard(args)
	if err == nil {
		o.Work, o.Shards, o.Groups, o.MaxCell = filepath.Join(t.TempDir(), "work"), 3, 3, 50
		o, err = shard.Plan(t.Context(), o, shard.Local{})
	}
	return o, err
}

// many runs a job with two workers.
func many(t *testing.T, args ...string) {
	t.Helper()
	o, err := plan(t, args...)
	if err == nil {
		err = o.Save()
	}
	must.Do(t, err)
	j, err := shard.Open(o.Work)
	must.Do(t, err)
	for _, s := range j.Steps() {
		for w := range 2 {
			must.Do(t, j.RunStep(t.Context(), s.Name, w, 2))
		}
	}
	must.Get(j.Finish(t.Context()))(t)
}

// one runs the program on one machine. It is the program of this process, so that both write the
// same version, however it was built.
func one(t *testing.T, args ...string) {
	t.Helper()
	var program struct {
		Dedup    verbs.Dedup    `cmd:""`
		Pairs    verbs.Pairs    `cmd:""`
		Clusters verbs.Clusters `cmd:""`
		Load     loading.Load   `cmd:""`
		Export   loading.Export `cmd:""`
	}
	a := app.NewQuiet(t.Context(), nil)
	defer a.CleanUp()
	parser, err := New(&program, kong.Bind(a))
	must.Do(t, err)
	command, err := parser.Parse(args)
	if err == nil {
		err = errors.Join(a.Declare(command), command.Run(a))
	}
	if err != nil && !errors.Is(err, inputs.ErrRejected) {
		t.Fatalf("%v: %v", args, err)
	}
}

// folder returns the name of an output folder.
func folder(t *testing.T) string { return filepath.Join(t.TempDir(), "out") + "/" }

// content returns the files of a folder.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		b, failed := os.ReadFile(name)
		all[filepath.Base(name)], err = string(b), errors.Join(err, failed)
	}
	must.Do(t, err)
	return all
}

// TestRows compares pairs with the pairs of one machine, and clusters with the clusters of dedup
// --clusters.
func TestRows(t *testing.T) {
	inputs := split(t, 5)
	for i := range exhaustive.Some(t, 2, 4) {
		command := []string{"pairs", "clusters"}[i/2]
		for _, flags := range [][]string{{"--jaccard", "0.8"}, {"--near", "6"}}[i%2 : i%2+1] {
			t.Run(fmt.Sprint(command, flags), func(t *testing.T) {
				rows := filepath.Join(t.TempDir(), "rows.jsonl")
				if command == "pairs" {
					one(t, append(append([]string{"pairs", "-o", rows}, flags...), inputs...)...)
				} else {
					one(t, append(append([]string{"dedup", "--clusters", rows, "-o", folder(t)}, flags...), inputs...)...)
				}
				want := must.Get(os.ReadFile(rows))(t)
				got := folder(t)
				many(t, slices.Concat([]string{command, "-o", got}, flags, inputs)...)
				var all []byte
				for i := range 3 {
					b := must.Get(os.ReadFile(filepath.Join(got, fmt.Sprintf("%s-%05d.jsonl", command, i))))(t)
					all = append(all, b...)
				}
				if command == "clusters" {
					want, all = assigned(t, want), assigned(t, all)
				}
				if a, b := sorted(want), sorted(all); !bytes.Equal(a, b) || len(a) < 1000 {
					t.Errorf("%d bytes, want %d", len(b), len(a))
				}
			})
		}
	}
}

// assigned returns the cluster of each document, and whether the document is kept.
func assigned(t *testing.T, rows []byte) (out []byte) {
	t.Helper()
	for line := range bytes.Lines(rows) {
		var row struct {
			ID      string
			Cluster int
			Keep    bool
		}
		must.Do(t, json.Unmarshal(line, &row))
		if row.Cluster > 0 {
			out = fmt.Appendf(out, "%s %d %v\n", row.ID, row.Cluster, row.Keep)
		}
	}
	return out
}

func sorted(lines []byte) []byte {
	all := bytes.SplitAfter(lines, []byte("\n"))
	slices.SortFunc(all, bytes.Compare)
	return bytes.Join(all, nil)
}

// TestBuild makes tables of shards. As a set they must answer like one database of all inputs, and
// a second run must give the same bytes.
func TestBuild(t *testing.T) {
	inputs := split(t, 4)
	got := folder(t)
	o := must.Get(plan(t, append([]string{"build", "--bits", "128", "-o", got}, inputs...)...))(t)
	o.Shards = 3
	var before map[string]string
	for range 2 {
		o.Work = t.TempDir()
		j := must.Get(shard.New(o, shard.Local{}))(t)
		none := func(uint64, []byte) error { return nil }
		for key := range uint64(3) {
			must.Do(t, j.Steps()[0].Run(t.Context(), key, func(func([]byte, error) bool) {}, none))
		}
		must.Do(t, j.Steps()[1].Run(t.Context(), 0, func(func([]byte, error) bool) {}, none))
		sums := content(t, filepath.Join(o.Work, "out"))
		if before != nil && !maps.Equal(sums, before) || len(sums) != 3 {
			t.Errorf("%d tables differ", len(sums))
		}
		before = sums
		must.Get(j.Finish(t.Context()))(t)
	}
	db := filepath.Join(t.TempDir(), "all.simdb")
	one(t, append([]string{"load", db, "--bits", "128"}, inputs...)...)
	for _, of := range [][]string{{"pairs", "--near", "12"}, {"clusters", "--near", "12"}, {"pairs", "--jaccard", "0.9"}} {
		ask := func(db string) []byte {
			rows := filepath.Join(t.TempDir(), "rows.jsonl")
			one(t, append([]string{of[0], db, "-o", rows}, of[1:]...)...)
			b := must.Get(os.ReadFile(rows))(t)
			return b
		}
		if a, b := ask(db), ask(got+"*.sst"); !bytes.Equal(a, b) || len(a) < 1000 {
			t.Errorf("%v: %d bytes, want %d", of, len(b), len(a))
		}
	}
}

// TestFormats uses inputs of other formats than JSON lines, compressed and not.
func TestFormats(t *testing.T) {
	lines := split(t, 2)
	for i := range exhaustive.Some(t, 2, 3) {
		ending := []string{".csv", ".jsonl.gz", ".parquet"}[i]
		t.Run(ending, func(t *testing.T) {
			dir := t.TempDir()
			var inputs []string
			for i, name := range lines {
				db, to := filepath.Join(dir, fmt.Sprint(i, ".simdb")), filepath.Join(dir, fmt.Sprint("in-", i, ending))
				one(t, "load", db, name)
				one(t, "export", db, "-o", to)
				inputs = append(inputs, to)
			}
			want, got := folder(t), folder(t)
			one(t, append([]string{"dedup", "-o", want}, inputs...)...)
			many(t, append([]string{"dedup", "-o", got}, inputs...)...)
			if a, b := content(t, want), content(t, got); !maps.Equal(a, b) || len(a) < 3 {
				t.Errorf("%d files differ from %d", len(b), len(a))
			}
		})
	}
}

// TestRefuses runs jobs that would replace an input, or that are not for many machines.
func TestRefuses(t *testing.T) {
	inputs := split(t, 2)
	here, linked, db := filepath.Dir(inputs[0])+"/", t.TempDir()+"/linked.jsonl", t.TempDir()+"/ref.simdb"
	must.Do(t, os.Link(inputs[0], linked))
	one(t, "load", db, inputs[0])
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(inputs, "-o", here), "would replace the input"},
		{[]string{here + "*.jsonl", "-o", here}, "would replace the input"},
		{append(inputs, "-o", "out.jsonl"), "name a folder"},
		{[]string{here + "none-*.jsonl", "-o", "out/"}, "there is no such file"},
		{append(inputs, "-o", "out/", "--keep", "longest"), "keep the first"},
		{append(inputs, "-o", "out/", "--within", "0.9"), "by Jaccard, a rule with it, Near or Seen"},
		{append(inputs, "-o", "out/", "--audit", "a.jsonl"), "into the folder"},
		{append(inputs, "-o", "out/", "--against", inputs[0]), "--against cannot be used with many workers"},
		{append(inputs, "-o", "out/", "--level", "line"), "--level cannot be used with many workers: they do this only for texts that have been seen"},
		{append(inputs, "-o", "out/", "--seen", "0.8", "--against", inputs[0]), "has the name of an input"},
		{append(inputs, "-o", "out/", "--seen", "0.8", "--against", linked), "is " + inputs[0] + ", an input"},
		{append(inputs, "-o", "out/", "--seen", "0.8", "--against", "none.jsonl"), "--against none.jsonl: there is no such file"},
		{append(inputs, "-o", "out/", "--seen", "0.8", "--against", db), "is a database"},
		{append(inputs, "-o", "out/", "--seen", "0.8", "--near", "3"), "--near cannot be used with --seen"},
		{append(inputs, "-o", "out/", "--nearr", "3"), "unknown flag"},
	} {
		_, err := plan(t, append([]string{"dedup"}, c.args...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
	if _, err := plan(t, append(append([]string{"pairs", "--seen", "0.8"}, inputs...), "-o", "out/")...); err == nil || !strings.Contains(err.Error(), "lists no pairs") {
		t.Error(err)
	}
}

// split writes the licences of the example to n files, and returns their names.
func split(t *testing.T, n int) (names []string) {
	t.Helper()
	dir := t.TempDir()
	lines := bytes.SplitAfter(corpora.Read(t, "../../../examples/licenses.jsonl.gz"), []byte("\n"))
	for i := range n {
		part := filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i))
		must.Do(t, os.WriteFile(part, bytes.Join(lines[i*len(lines)/n:(i+1)*len(lines)/n], nil), 0o666))
		names = append(names, part)
	}
	return names
}
