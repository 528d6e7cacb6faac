// Package simdtest has the test that every package with kernels runs. Only tests import it.
package simdtest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/simdb/simdb/internal/simd"
)

// child is set in the processes that OneLevel starts.
const child = "SIMDB_TEST_LEVEL"

// OneLevel checks that a package's kernels run at the level that package simd decides on, for every
// value of simd.Env. active returns the level of the package. The test starts itself again, since
// the level is decided when a process starts.
func OneLevel(t *testing.T, active func() simd.Level) {
	t.Helper()
	if want, ok := os.LookupEnv(child); ok {
		if got := active(); got != simd.Active() || got.String() != want {
			t.Errorf("%s=%s: level %v, want %s; package simd decides on %v", simd.Env, os.Getenv(simd.Env), got, want, simd.Active())
		}
		return
	}
	levels := simd.Available()
	want := map[string]simd.Level{"": levels[0], "sse2": levels[0]}
	for _, l := range []simd.Level{simd.Go, simd.AVX2, simd.AVX512} {
		want[l.String()] = min(l, levels[0])
	}
	for value, level := range want {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), simd.Env+"="+value, child+"="+level.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
