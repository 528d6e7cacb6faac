package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

func TestChoose(t *testing.T) {
	levels := Available()
	for _, l := range levels {
		if got, err := choose(l.String()); got != l || err != nil {
			t.Errorf("choose(%q) = %v, %v", l, got, err)
		}
	}
	for _, name := range []string{"", "AVX2", "avx-512", "sse", "purego", " go"} {
		if got, err := choose(name); got != levels[0] || (err == nil) != (name == "") {
			t.Errorf("choose(%q) = %v, %v, want the highest, %v", name, got, err, levels[0])
		}
	}
	for _, l := range []Level{Go, AVX2, AVX512, NEON} {
		if _, err := choose(l.String()); (err == nil) != slices.Contains(levels, l) {
			t.Errorf("choose(%q): %v, but the machine has %v", l, err, levels)
		}
	}
	_, err := choose("zz")
	want := fmt.Sprintf(`SIMDB_KERNEL="zz" is not a kernel of this processor; choose from %v`, levels)
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAvailable(t *testing.T) {
	if err := Err(); err != nil {
		t.Fatal(err)
	}
	levels := Available()
	if levels[len(levels)-1] != Go || !slices.Contains(levels, Active()) {
		t.Errorf("Available() = %v, Active() = %v", levels, Active())
	}
	if !slices.IsSortedFunc(levels, func(a, b Level) int { return int(b) - int(a) }) {
		t.Errorf("Available() = %v, not the highest first", levels)
	}
}

// eachLevel calls f at every level of this machine.
func eachLevel(f func(l Level)) {
	defer use(active)
	for _, l := range Available() {
		use(l)
		f(l)
	}
}

// withLevels runs f as a test at every level of this machine.
func withLevels(t *testing.T, f func(t *testing.T)) {
	eachLevel(func(l Level) { t.Run(l.String(), f) })
}

// child is set in the processes that TestLevelOfProcess starts.
const child = "SIMDB_TEST_LEVEL"

// TestLevelOfProcess checks the level for every value of Env. It starts itself again, because the
// level is chosen when a process starts.
func TestLevelOfProcess(t *testing.T) {
	if want, ok := os.LookupEnv(child); ok {
		if got := Active(); got.String() != want || (Err() == nil) != (os.Getenv(Env) == want || os.Getenv(Env) == "") {
			t.Errorf("%s=%s: level %v, want %s; %v", Env, os.Getenv(Env), got, want, Err())
		}
		return
	}
	levels := Available()
	want := map[string]Level{"": levels[0], "sse2": levels[0]}
	for _, l := range []Level{Go, AVX2, AVX512, NEON} {
		if want[l.String()] = l; !slices.Contains(levels, l) {
			want[l.String()] = levels[0]
		}
	}
	for value, level := range want {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), Env+"="+value, child+"="+level.String())
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("an emulator runs this test: the system cannot run its program")
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
