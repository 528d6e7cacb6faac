// Package layering has tests that enforce the conventions of simdb: imports of packages, the
// exported names of public packages, the parameters of functions, the documentation, whose
// commands, paths, links and tests must exist, and the width of comments.
package layering

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/simdb/simdb/"

// TestLayers checks forbidden dependencies: a layer may not depend on those above it, and packages
// that programs embed may not depend on a terminal, flags or a parser. Only programs that import
// records/remote have its network clients.
func TestLayers(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	front := []string{
		"github.com/alecthomas/kong", "github.com/alecthomas/participle", "github.com/peterh/liner",
		"github.com/vbauerster/mpb", "github.com/mattn/go-runewidth",
	}
	network := []string{module + "records/remote", "github.com/minio/minio-go/v7", "github.com/hashicorp/go-retryablehttp"}
	for pkg, forbidden := range map[string][]string{
		"internal/table": append([]string{"go.etcd.io/bbolt", module + "engine", module + "compaction", module + "query"}, front...),
		"sstable":        append([]string{"go.etcd.io/bbolt", module + "engine", module + "compaction", module + "query"}, front...),
		"compaction":     append([]string{"go.etcd.io/bbolt", module + "engine", module + "query"}, front...),
		"engine":         append(append([]string{module + "sstable", module + "query", module + "repl", module + "cmd"}, front...), network...),
		"query":          {module + "repl", module + "cmd", "github.com/alecthomas/kong", "github.com/peterh/liner"},
		"repl":           {module + "cmd", "github.com/alecthomas/kong", "github.com/parquet-go/parquet-go"},
		"records/inputs": append(append([]string{module + "query", module + "dedup", module + "repl", module + "cmd"}, front...), network...),
		"dedup":          {module + "records/remote", module + "query", module + "repl", module + "cmd", "github.com/alecthomas/kong", "github.com/peterh/liner", "github.com/vbauerster/mpb"},
		"dedup/learn":    {module + "records/remote", module + "query", module + "repl", module + "cmd", "github.com/alecthomas/kong", "github.com/peterh/liner", "github.com/vbauerster/mpb", "golang.org/x/term"},
		"dedup/tune":     {module + "query", module + "repl", module + "cmd", "github.com/alecthomas/kong", "github.com/peterh/liner", "github.com/vbauerster/mpb"},
		"simhash":        {module + "internal/table", module + "engine"},
		"minhash":        {module + "internal/table", module + "engine", module + "simhash"},
	} {
		out, err := exec.Command("go", "list", "-deps", module+pkg).Output()
		if err != nil {
			t.Fatal(pkg, err)
		}
		deps := strings.Fields(string(out))
		for _, dep := range deps {
			for _, f := range forbidden {
				if dep == f || strings.HasPrefix(dep, strings.TrimSuffix(f, "/")+"/") {
					t.Errorf("%s depends on %s", pkg, dep)
				}
			}
		}
		if len(deps) < 10 {
			t.Errorf("%s: only %v", pkg, deps)
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"query/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Package query may only use the public API of the engine. It shares these packages with
	// others: how text is split into words, fingerprints and their notation, sorting of results,
	// comparing and formatting numbers, reading fields, comparing texts, measuring time, evaluating
	// distances of fingerprints, naming options in messages, suggesting words, and rules of pairs.
	allowed := []string{
		module + "engine", module + "internal/base", module + "internal/token", module + "internal/features", module + "internal/ordered",
		module + "internal/quantity", module + "internal/front", module + "internal/jsonfield", module + "internal/textsim", module + "internal/worddiff", module + "internal/option", module + "internal/spelling",
		module + "internal/pairrule", module + "internal/rulejoin", module + "internal/corpus", module + "simhash",
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for _, imported := range fields[1:] {
			inside := strings.HasPrefix(imported, module+"query/internal/")
			if strings.HasPrefix(imported, module) && !inside && !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s", fields[0], imported)
			}
			if strings.HasPrefix(imported, "github.com/alecthomas/participle") && fields[0] != module+"query/internal/syntax" {
				t.Errorf("%s imports %s: only package syntax may", fields[0], imported)
			}
		}
	}
}

// TestWholeSystem checks that package fuzz tests the system only through public packages, so that
// its oracles share no code with it.
func TestWholeSystem(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .TestImports " "}}`, module+"fuzz").Output()
	if err != nil || !strings.Contains(string(out), module+"engine") || strings.Contains(string(out), "/internal/") {
		t.Errorf("package fuzz imports %s%v", out, err)
	}
}

// floors are the folders of the module from the bottom up; folders of the same floor are listed
// together. Packages in internal may use the public packages simhash and minhash, and those of them
// that are listed may use more.
var floors = [][]string{
	{"simhash", "minhash", "internal"}, {"internal/table"}, {"sstable", "compaction"}, {"engine"}, {"internal/corpus", "internal/docfield"}, {"internal/rulejoin"}, {"query", "records"}, {"internal/admin"}, {"dedup", "repl"}, {"cmd"},
}

// TestFloors checks that no folder imports one on a higher floor, or another one on the same floor.
func TestFloors(t *testing.T) {
	floor := map[string]int{}
	for n, folders := range floors {
		for _, folder := range folders {
			floor[folder] = n
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	top := func(path string) string {
		path = strings.TrimPrefix(path, module)
		folder, _, _ := strings.Cut(path, "/")
		for listed := range floor {
			if len(listed) > len(folder) && strings.HasPrefix(path+"/", listed+"/") {
				folder = listed
			}
		}
		return folder
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from, known := floor[top(fields[0])]
		if seen[top(fields[0])] = true; !known { // folders not in floors are examples
			continue
		}
		for _, imported := range fields[1:] {
			to, ours := floor[top(imported)]
			beside := from == to && top(imported) != top(fields[0]) && from > 0
			if strings.HasPrefix(imported, module) && (!ours || to > from || beside) {
				t.Errorf("%s imports %s, which is not below it", fields[0], imported)
			}
		}
	}
	for folder := range floor {
		if !seen[folder] {
			t.Errorf("there is no folder %s", folder)
		}
	}
}

// TestOnlyTestsImportTestHelpers checks that only tests import file systems and other helpers for
// tests: they must not be linked into a program.
func TestOnlyTestsImportTestHelpers(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	helpers := []string{module + "internal/exhaustive", module + "internal/golden", module + "internal/vfs/vfstest", module + "internal/corpora", module + "internal/must", module + "internal/rulejoin/ruletest", module + "internal/remotetest"}
	found := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if slices.Contains(helpers, fields[0]) {
			found++
			continue // a helper may import another one
		}
		for _, imported := range fields[1:] {
			if slices.Contains(helpers, imported) || imported == "testing" {
				t.Errorf("%s imports %s: only its tests may", fields[0], imported)
			}
		}
	}
	if found != len(helpers) {
		t.Errorf("%d of the packages %v found", found, helpers)
	}
}

// TestOnePackageKnowsTheProcessor checks that only package kernel detects the features of the
// processor, so that all kernels of a process use the same level.
func TestOnePackageKnowsTheProcessor(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); slices.Contains(fields[1:], "golang.org/x/sys/cpu") {
			found = append(found, fields[0])
		}
	}
	if want := []string{module + "internal/kernel"}; !slices.Equal(found, want) {
		t.Errorf("golang.org/x/sys/cpu is imported by %v, want %v", found, want)
	}
}

// TestModules checks that the main module does not have the dependencies of distributed, bench and
// tools, which are separate modules.
func TestModules(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	out, err := exec.Command("go", "list", "-m", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := string(out)
	if !strings.Contains(modules, "github.com/alecthomas/kong ") {
		t.Errorf("the modules are %s", modules)
	}
	for _, foreign := range []string{"github.com/apache/beam", "google.golang.org/grpc", "cloud.google.com/go", "golang.org/x/vuln"} {
		if strings.Contains(modules, foreign) {
			t.Errorf("simdb depends on %s", foreign)
		}
	}
}
