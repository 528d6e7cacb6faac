// Package exhaustive is for tests with loops over every byte, bit, file operation, kill or random
// case. By default a loop runs a sample of its cases: the first and the last, and one of every
// few between, always the same ones; SIMDB_SEED=17 chooses others. A failing test reports the
// seed. With SIMDB_ALL=1 every loop runs all cases. Some is for a small number of long cases.
//
// A failing test reports the case of its loop: SIMDB_CASE=17 runs only case 17 of each loop.
// Therefore a case must not depend on earlier ones, and a random case must use its number as
// seed.
package exhaustive

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"iter"
	"os"
	"strconv"
	"strings"
	"testing"
)

const (
	envAll  = "SIMDB_ALL"
	envCase = "SIMDB_CASE"
	envSeed = "SIMDB_SEED"
)

// All reports whether all loops run all cases.
func All() bool { return os.Getenv(envAll) == "1" }

// Size returns the size of a test without cases: some by default, all if All.
func Size[T any](some, all T) T {
	if All() {
		return all
	}
	return some
}

// given returns SIMDB_SEED, by default "1".
func given() string { return cmp.Or(os.Getenv(envSeed), "1") }

// Seed returns a seed for a test's own random numbers. It depends on SIMDB_SEED and the test.
func Seed(t testing.TB) uint64 {
	t.Helper()
	return seedOf(t)
}

// seedOf returns the seed of a test. If the test fails, it logs the seed of the process.
func seedOf(t testing.TB) uint64 {
	if !All() && os.Getenv(envCase) == "" {
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the cases were chosen by %s=%s", envSeed, given())
			}
		})
	}
	return seed(given(), t.Name())
}

// A Share is the sample of cases that a loop runs.
type Share struct {
	t     testing.TB
	step  uint64 // one of step cases runs
	start uint64 // start of the random numbers
	only  int    // the only case to run, or -1
}

// Every returns a share with the first case and one of every step cases, or with all cases if
// All. The choice depends on the seed and the test.
func Every(t testing.TB, step int) Share {
	t.Helper()
	step *= Slower
	if All() {
		step = 1
	}
	s := Share{t, uint64(step), seedOf(t), -1}
	if v := os.Getenv(envCase); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			t.Fatalf("%s=%s: want the number of a case", envCase, v)
		}
		s.only = n
	}
	return s
}

// Takes reports whether the share includes case i. If the number of cases is known, use Of.
func (s Share) Takes(i int) bool {
	if s.only >= 0 {
		return i == s.only
	}
	// The case within each step is random: with regular distances, a loop over the bytes of words
	// would always choose the same byte of a word.
	n := uint64(i)
	return i == 0 || n%s.step == mix(s.start+n/s.step)%s.step
}

// Of yields the cases of the share among 0 to n-1, always including the last one.
func (s Share) Of(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			last := i == n-1 && s.only < 0
			if (last || s.Takes(i)) && !s.try(i, n, yield) {
				return
			}
		}
	}
}

// Alone returns the command that runs only case i.
func (s Share) Alone(i int) string {
	return fmt.Sprintf("%s=%d go test -run '^%s$'", envCase, i, strings.ReplaceAll(s.t.Name(), "/", "$/^"))
}

// try yields a case. If the test fails in it, try logs the case.
func (s Share) try(i, n int, yield func(int) bool) bool {
	if !s.t.Failed() {
		defer func() {
			if s.t.Failed() {
				s.t.Logf("this was case %d of %d; to run only this one: %s", i, n, s.Alone(i))
			}
		}()
	}
	return yield(i)
}

// Some yields one of every step of a few long cases, 0 to n-1, and at least one; neither the
// first nor the last is guaranteed. It yields all cases if All, or if SIMDB_CASE selects a case
// of a loop inside them.
func Some(t testing.TB, step, n int) iter.Seq[int] {
	t.Helper()
	step *= Slower
	if All() || os.Getenv(envCase) != "" {
		step = 1
	}
	return some(seedOf(t), step, n)
}

func some(start uint64, step, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		parts := (n + step - 1) / step
		for p := range parts {
			from, end := p*n/parts, (p+1)*n/parts
			if !yield(from + int(mix(start+uint64(p))%uint64(end-from))) {
				return
			}
		}
	}
}

// Sequential skips a long test of one goroutine under the race detector, which would find
// nothing.
func Sequential(t testing.TB) {
	t.Helper()
	if Race && !All() {
		t.Skip("one goroutine has no races")
	}
}

// seed returns a number that depends on the given seed and the test.
func seed(given, test string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(given + " " + test))
	return mix(h.Sum64())
}

// mix is the last step of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
