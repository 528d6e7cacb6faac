// Package exhaustive is for tests with loops over every byte, bit, file operation, kill or random
// case. By default a loop takes a share of its cases: the first and the last one, and one of each
// few between, chosen by a random seed, so that all are tried in the end while each run is short. A
// test that fails names the seed; SIMDB_SEED=17 gives it. With SIMDB_ALL=1 every loop takes all. Some
// is for few cases that are long.
//
// A test that fails in a loop says in which case: SIMDB_CASE=17 takes only case 17 of each loop.
// So no case may depend on those before it, and a random case takes its number for its seed.
package exhaustive

import (
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	envAll  = "SIMDB_ALL"
	envCase = "SIMDB_CASE"
	envSeed = "SIMDB_SEED"
)

// All reports whether all cases of all loops are wanted.
func All() bool { return os.Getenv(envAll) == "1" }

// Size returns how large a test without cases is, by default and if All.
func Size[T any](some, all T) T {
	if All() {
		return all
	}
	return some
}

// given is SIMDB_SEED, or chosen at random for this process and those that it starts.
var given = sync.OnceValue(func() string {
	v := os.Getenv(envSeed)
	if v == "" {
		v = strconv.Itoa(rand.IntN(1e6))
		os.Setenv(envSeed, v)
	}
	return v
})

// seedOf returns the seed for a test, which says the one of the process if it fails.
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

// A Share tells which cases of a loop are taken.
type Share struct {
	t     testing.TB
	step  uint64 // one of step cases is taken
	start uint64 // where random numbers start
	only  int    // the one case to take, or -1
}

// Every returns a share with the first case and one of each step cases, or with all if All. Which
// ones differs by seed and by test.
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

// Takes reports whether the share has case i. Of is for loops whose number of cases is known.
func (s Share) Takes(i int) bool {
	if s.only >= 0 {
		return i == s.only
	}
	// One of each step cases at random: at regular distances a loop over the bytes of words would
	// always take the same byte of the word.
	n := uint64(i)
	return i == 0 || n%s.step == mix(s.start+n/s.step)%s.step
}

// Of yields the cases of the share among 0 to n-1. The last one is among them.
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

// Alone returns the command that tries case i alone.
func (s Share) Alone(i int) string {
	return fmt.Sprintf("%s=%d go test -run '^%s$'", envCase, i, strings.ReplaceAll(s.t.Name(), "/", "$/^"))
}

// try yields a case. If the test fails in it, it names the case.
func (s Share) try(i, n int, yield func(int) bool) bool {
	if !s.t.Failed() {
		defer func() {
			if s.t.Failed() {
				s.t.Logf("this was case %d of %d; for it alone: %s", i, n, s.Alone(i))
			}
		}()
	}
	return yield(i)
}

// Some yields one of each step of a few long cases with names, 0 to n-1, and at least one: neither
// the first nor the last is always among them. It yields all if All, or if one case of a loop in
// them is wanted.
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

// Turn skips a long test except for one of every step seeds, unless All.
func Turn(t testing.TB, step int) {
	t.Helper()
	if s := seedOf(t); !All() && os.Getenv(envCase) == "" && s%uint64(step) != 0 {
		t.Skipf("one of %d seeds (%s) runs it, or %s=1", step, envSeed, envAll)
	}
}

// Sequential skips a long test of one goroutine when the race detector looks on: it finds nothing.
func Sequential(t testing.TB) {
	t.Helper()
	if Race && !All() {
		t.Skip("one goroutine has no races")
	}
}

// seed returns a number that differs by the seed given and by test.
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
