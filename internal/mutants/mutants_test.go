package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A mutant is the program with one mistake.
type mutant struct {
	name     string
	file     string // from the root of the module
	old, new string
	pkg, run string // the package whose tests of these names must notice
}

// source returns the root of the module and the file's text with the mistake.
func (m mutant) source(t *testing.T) (root, text string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), m.old); n != 1 {
		t.Fatalf("%s has this %d times, not once:\n%s", m.file, n, m.old)
	}
	return root, strings.Replace(string(b), m.old, m.new, 1)
}

// noticed runs the named tests on the mutant and checks that one of them fails. A mutant that does not compile proves nothing.
func (m mutant) noticed(t *testing.T) {
	root, text := m.source(t)
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	spec, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, m.file): changed}})
	if err == nil {
		err = os.WriteFile(changed, []byte(text), 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, spec, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-run", m.run, "./"+m.pkg)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	switch failed := strings.Contains(string(out), "--- FAIL: "); {
	case err == nil:
		t.Errorf("nobody noticed:\n%s", out)
	case !failed:
		t.Errorf("no test failed, but: %v\n%s", err, out)
	default:
		_, first, _ := strings.Cut(string(out), "--- FAIL: ")
		t.Logf("noticed: %.300s", first)
	}
}

// share returns which mutants SIMDB_MUTANTS asks for: number, number + of, and so on. "1" asks for all, "2/5" for every fifth
// from number 2 on; none without it.
func share(t *testing.T) (number, of int) {
	switch v := os.Getenv("SIMDB_MUTANTS"); v {
	case "":
		return 0, 0
	case "1":
		return 0, 1
	default:
		if _, err := fmt.Sscanf(v, "%d/%d", &number, &of); err != nil || number < 0 || number >= of {
			t.Fatalf("SIMDB_MUTANTS=%s: want 1, or such as 0/3", v)
		}
		return number, of
	}
}

// TestMutants checks that each mutant can be made, and, with SIMDB_MUTANTS=1, that its test notices.
func TestMutants(t *testing.T) {
	number, of := share(t)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, m := range slices.Concat(mutants, durableMutants, writeMutants, outputMutants) {
		t.Run(m.name, func(t *testing.T) {
			if m.source(t); of == 0 || i%of != number {
				return
			}
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			m.noticed(t)
		})
	}
}
