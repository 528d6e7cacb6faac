package exhaustive

import (
	"fmt"
	"slices"
	"testing"
)

// TestShare checks that a share has the first and the last case and one of every step cases, that
// it is the same for equal seeds, and that other seeds choose other cases, and eventually all.
func TestShare(t *testing.T) {
	t.Setenv(envAll, "")
	t.Setenv(envCase, "")
	const n, step = 1000, 12
	all := make(map[int]bool)
	for c := range 200 {
		s := Share{t, step, seed(fmt.Sprint(c), "TestX"), -1}
		cases := slices.Collect(s.Of(n))
		if again := slices.Collect(s.Of(n)); !slices.Equal(again, cases) {
			t.Fatalf("%v, and then %v", cases, again)
		}
		if cases[0] != 0 || cases[len(cases)-1] != n-1 || len(cases) > n/step+3 {
			t.Fatalf("%d cases: %v", len(cases), cases)
		}
		for i := range n / step {
			if !slices.ContainsFunc(cases, func(c int) bool { return c/step == i }) {
				t.Fatalf("none of cases %d to %d", i*step, i*step+step-1)
			}
		}
		for _, c := range cases {
			all[c] = true
		}
	}
	if len(all) != n {
		t.Errorf("200 seeds try %d of %d cases", len(all), n)
	}
}

// TestSome checks that one of every step cases is chosen, and with 200 seeds each case.
func TestSome(t *testing.T) {
	for n := range 20 {
		for step := 1; step < 10; step++ {
			all := make(map[int]bool)
			for c := range 200 {
				cases := slices.Collect(some(seed(fmt.Sprint(c), "TestX"), step, n))
				if len(cases) != (n+step-1)/step || !slices.IsSorted(cases) || len(slices.Compact(cases)) < len(cases) {
					t.Fatalf("%v of %d, one of %d", cases, n, step)
				}
				for _, i := range cases {
					all[i] = true
				}
			}
			if len(all) != n {
				t.Errorf("200 seeds try %d of %d cases", len(all), n)
			}
		}
	}
	for _, env := range []string{envCase, envAll} {
		t.Setenv(envAll, "")
		t.Setenv(envCase, "")
		t.Setenv(env, "1")
		if got := slices.Collect(Some(t, 3, 5)); len(got) != 5 {
			t.Errorf("%v with %s=1", got, env)
		}
	}
}

// TestWhole checks that SIMDB_ALL=1 selects all cases, and SIMDB_CASE one.
func TestWhole(t *testing.T) {
	t.Setenv(envCase, "")
	t.Setenv(envAll, "1")
	if got := slices.Collect(Every(t, 12).Of(30)); len(got) != 30 {
		t.Errorf("%v with %s=1", got, envAll)
	}
	t.Setenv(envCase, "17")
	if got := slices.Collect(Every(t, 12).Of(30)); !slices.Equal(got, []int{17}) {
		t.Errorf("%v with %s=17", got, envCase)
	}
}

// TestNamesCase checks that a failing test reports its case.
func TestNamesCase(t *testing.T) {
	t.Setenv(envAll, "1")
	t.Setenv(envCase, "")
	r := &recorder{TB: t}
	for i := range Every(r, 1).Of(10) {
		if i == 6 || i == 8 {
			r.Errorf("wrong")
		}
	}
	want := "this was case 6 of 10; to run only this one: SIMDB_CASE=6 go test -run '^TestNamesCase$'"
	if !slices.Equal(r.logged, []string{want}) {
		t.Errorf("%q, want %q", r.logged, want)
	}
}

// TestNamesSeed checks that a failing test reports the seed that chose its cases, and that the
// seed determines them.
func TestNamesSeed(t *testing.T) {
	t.Setenv(envAll, "")
	t.Setenv(envCase, "")
	r := &recorder{TB: t}
	first := slices.Collect(Every(r, 12).Of(1000))
	r.Errorf("wrong")
	r.cleanup()
	if want := []string{"the cases were chosen by SIMDB_SEED=" + given()}; !slices.Equal(r.logged, want) {
		t.Errorf("%q, want %q", r.logged, want)
	}
	if again := slices.Collect(Every(r, 12).Of(1000)); !slices.Equal(first, again) {
		t.Errorf("%v, and then %v", first, again)
	}
}

// A recorder records failures and logs of a test.
type recorder struct {
	testing.TB
	failed  bool
	logged  []string
	cleanup func()
}

func (r *recorder) Cleanup(f func()) { r.cleanup = f }

func (r *recorder) Failed() bool          { return r.failed }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Logf(format string, args ...any) {
	r.logged = append(r.logged, fmt.Sprintf(format, args...))
}
