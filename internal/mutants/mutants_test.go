package mutants

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A mutant is the program with one mistake.
type mutant struct {
	name  string
	in    string // the directory of the declaration, or a parent of it
	decl  string // the function, the method as "Type.name", or the type, variable or constant
	edit  edit   // the mistake; there must be exactly one place for it
	tests string // the directory of the tests that must fail, or a parent of it
	run   string // the names of those tests, a regular expression
}

// source returns the source of the module, parsed once.
var source = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	return load(root)
})

// place returns the place of the mistake, and the packages of the tests that must fail.
func (m mutant) place(t *testing.T) (place, []string) {
	t.Helper()
	src, err := source()
	if err != nil {
		t.Fatal(err)
	}
	found := m.edit.places(src, src.find(m.in, m.decl))
	if len(found) != 1 {
		for _, p := range found {
			t.Logf("%s: %s", p.d.path, p.d.src[p.start:p.end])
		}
		t.Fatalf("%d places in %s of %s for this, not one: %T %q", len(found), m.decl, m.in, m.edit, m.edit)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), found[0].d.path, found[0].mutated(), parser.SkipObjectResolution); err != nil {
		t.Fatalf("it is no Go: %v", err)
	}
	packages, err := src.packages(m.tests, m.run)
	if err != nil {
		t.Fatal(err)
	}
	return found[0], packages
}

// overlay writes the mutated file, and returns the go flag that substitutes it.
func (m mutant) overlay(t *testing.T, p place) string {
	t.Helper()
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	spec, err := json.Marshal(map[string]map[string]string{"Replace": {p.d.path: changed}})
	if err == nil {
		err = os.WriteFile(changed, []byte(p.mutated()), 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, spec, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "-overlay=" + overlay
}

// goTool runs the go command in the module, with additional environment variables.
func goTool(args []string, env ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = filepath.Join("..", ".."), append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// compiles checks that the mutant compiles: otherwise it proves nothing.
func (m mutant) compiles(t *testing.T, p place) {
	if out, err := goTool([]string{"build", m.overlay(t, p), filepath.Dir(p.d.path)}); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// noticed runs the named tests on the mutant and checks that one fails: if none fails with the
// default sample of cases, it runs all cases.
func (m mutant) noticed(t *testing.T, p place, packages []string) {
	args := []string{"test", m.overlay(t, p), "-vet=off", "-count=1", "-failfast", "-run", m.run}
	args = append(args, packages...)
	out, err := goTool(args)
	if err == nil {
		out, err = goTool(args, "SIMDB_ALL=1")
	}
	switch failed := strings.Contains(out, "--- FAIL: "); {
	case err == nil:
		t.Errorf("no test noticed:\n%s", out)
	case !failed:
		t.Errorf("no test failed, but: %v\n%s", err, out)
	default:
		_, first, _ := strings.Cut(out, "--- FAIL: ")
		t.Logf("noticed: %.300s", first)
	}
}

// share returns the mutants that SIMDB_MUTANTS selects: number, number + of, and so on. "1" and
// "build" select all, "2/5" selects every fifth from number 2 on; an empty value selects none.
func share(t *testing.T) (number, of int) {
	switch v := os.Getenv("SIMDB_MUTANTS"); v {
	case "":
		return 0, 0
	case "1", onlyBuild:
		return 0, 1
	default:
		if _, err := fmt.Sscanf(v, "%d/%d", &number, &of); err != nil || number < 0 || number >= of {
			t.Fatalf("SIMDB_MUTANTS=%s: want 1, or such as 0/3", v)
		}
		return number, of
	}
}

// onlyBuild is the value of SIMDB_MUTANTS for compiling mutants without running tests.
const onlyBuild = "build"

// TestMutants checks that each mutant can be made and, with SIMDB_MUTANTS=1, that its test fails.
func TestMutants(t *testing.T) {
	number, of := share(t)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, m := range slices.Concat(mutants, durableMutants, writeMutants, loadMutants, outputMutants, backupMutants, recoverMutants, featureMutants, publishedMutants, readingMutants) {
		t.Run(m.name, func(t *testing.T) {
			p, packages := m.place(t)
			if of == 0 || i%of != number {
				return
			}
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			if os.Getenv("SIMDB_MUTANTS") == onlyBuild {
				m.compiles(t, p)
			} else {
				m.noticed(t, p, packages)
			}
		})
	}
}
