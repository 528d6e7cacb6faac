package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every planted pair in a list of random decimal numbers is found, even if some have 16 digits and
// the user says that they are decimal.
func TestDecimalList(t *testing.T) {
	dir := t.TempDir()
	for _, sixteen := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 4))
		var fps []uint64
		for len(fps) < 2001 {
			if fp := r.Uint64(); sixteen || len(fmt.Sprint(fp)) != 16 {
				fps = append(fps, fp)
			}
		}
		if sixteen {
			fps[700] = 1234567890123456
		}
		var want []string
		for i := range 11 {
			fps = append(fps, fps[i*150]^1<<i^1<<(i+30))
			want = append(want, fmt.Sprintf("%d\t%d\t2", i*150+1, len(fps)))
		}
		var lines strings.Builder
		for _, fp := range fps {
			fmt.Fprintln(&lines, fp)
		}
		write(t, filepath.Join(dir, "list.txt"), lines.String())
		db := fmt.Sprintf("%v.simdb", sixteen)
		flags := []string{"load", db, "list.txt"}
		if sixteen {
			flags = append(flags, "--fingerprints", "decimal")
		}
		simdb(t, dir, flags...)
		got := strings.Fields(strings.ReplaceAll(simdb(t, dir, "pairs", db, "--near", "3"), "\t", ","))
		for i := range want {
			a, b, _ := strings.Cut(strings.ReplaceAll(want[i], "\t", ","), ",")
			b, _, _ = strings.Cut(b, ",")
			if a > b {
				a, b = b, a
			}
			if want[i] = a + "," + b + ",2"; !slices.Contains(got, want[i]) {
				t.Errorf("%s is not among %q", want[i], got)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d pairs, want %d", len(got), len(want))
		}
		kept := simdb(t, dir, append([]string{"dedup", "list.txt", "--near", "3", "-q"}, flags[3:]...)...)
		if n := strings.Count(kept, "\n"); n != 2001 {
			t.Errorf("dedup keeps %d lines of 2012 with 11 pairs", n)
		}
	}
}
