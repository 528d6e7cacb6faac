package query

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// crowdStatements run on n documents that all have fingerprint 42. rows gives the number of rows,
// or the count for COUNT; if rows is nil, the statement may also fail with ErrTooLarge.
var crowdStatements = []struct {
	text string
	rows func(n int64) int64
}{
	{"COUNT PAIRS NEAR 3", func(n int64) int64 { return n * (n - 1) / 2 }},
	{"COUNT NEAR(42, 3)", func(n int64) int64 { return n }},
	{"COUNT NEAR('1', 3) AND ID LIKE '%'", func(n int64) int64 { return n - 1 }},
	{"COUNT CLUSTERS NEAR 3", func(int64) int64 { return 1 }},
	{"COUNT ID LIKE '%7%' OR NEAR(43, 1)", nil},
	{"COUNT", func(n int64) int64 { return n }},
	{"PAIRS NEAR 3 LIMIT 10", func(int64) int64 { return 10 }},
	{"PAIRS NEAR 3 LIMIT 1000 OFFSET 500", func(int64) int64 { return 1000 }},
	{"PAIRS NEAR 3", nil},
	{"NEAR(42, 3)", nil},
	{"NEAR(42, 3) LIMIT 10", func(int64) int64 { return 10 }},
	{"NEAR(42, 3) ORDER BY time DESC LIMIT 10", func(int64) int64 { return 10 }},
	{"NEAR(42, 3) ORDER BY time DESC", nil},
	{"NEAREST(42, 10)", func(int64) int64 { return 10 }},
	{"NEAREST(42, 100000000)", nil},
	{"ID LIKE '%'", func(n int64) int64 { return n }},
	{"ID LIKE '%' ORDER BY time", nil},
	{"SINCE 1d LIMIT 10", func(int64) int64 { return 10 }},
	{"NEAR(42, 3) OR ID LIKE '%'", nil},
	{"CLUSTERS NEAR 3", func(n int64) int64 { return n }},
	{"CLUSTERS NEAR 3 LIMIT 10", func(int64) int64 { return 10 }},
}

// TestCrowdInLittleMemory runs all kinds of statements on a very large number of equal
// fingerprints, in a process that may use little more memory than Options.Memory. Each statement
// must succeed or return ErrTooLarge, and the process must survive.
func TestCrowdInLittleMemory(t *testing.T) {
	const variable = "SIMDB_TEST_CROWD"
	if path := os.Getenv(variable); path != "" {
		askCrowd(t, path)
		return
	}
	n := exhaustive.Size(20_000, 1_000_000)
	path := t.TempDir() + "/crowd.simdb"
	db, err := engine.Open(path, &engine.Options{NoText: true, NoSketch: true})
	must.Do(t, err)
	l, err := db.NewLoader(t.Context(), &engine.LoadOptions{})
	must.Do(t, err)
	for i := range n {
		must.Do(t, l.Add(engine.Doc{ID: strconv.Itoa(i), Fingerprints: []engine.Fingerprint{{uint64(42)}}}))
	}
	must.Get(l.Close())(t)
	must.Do(t, db.Close())
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrowdInLittleMemory$", "-test.v")
	c.Env = append(os.Environ(), variable+"="+path, "GOMEMLIMIT=300MiB")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	if !strings.Contains(string(out), "asked everything") {
		t.Errorf("the other process did not get to the end:\n%s", out)
	}
}

// askCrowd runs in the other process.
func askCrowd(t *testing.T, path string) {
	const budget, margin = 64 << 20, 400 << 20
	db := must.Get(engine.Open(path, &engine.Options{ReadOnly: true, Memory: budget}))(t)
	defer db.Close()
	n := must.Get(count(t.Context(), db, "COUNT"))(t)
	now := must.Get(virtualMemory())(t)
	// Limit the address space, because nothing else stops an allocation: the current size, and a
	// margin for the heap's own arenas.
	most := uint64(now + budget + margin)
	must.Do(t, unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most}))
	for _, s := range crowdStatements {
		started := time.Now()
		rows, err := count(t.Context(), db, s.text)
		t.Logf("%s: %d in %v, %v", s.text, rows, time.Since(started).Round(time.Millisecond), err)
		switch {
		case errors.Is(err, engine.ErrTooLarge) && s.rows == nil:
		case err != nil:
			t.Errorf("%s: %v", s.text, err)
		case s.rows != nil && rows != s.rows(n):
			t.Errorf("%s: %d, want %d", s.text, rows, s.rows(n))
		}
	}
	t.Log("asked everything")
}

// count returns the number of rows of a statement, or the count that COUNT returns.
func count(ctx context.Context, db *engine.DB, text string) (n int64, err error) {
	rows, err := Run(ctx, db, text)
	if err != nil {
		return 0, err
	}
	for row, err := range rows.All() {
		if err != nil {
			return 0, err
		}
		if c, ok := row[0].(int64); ok {
			return c, nil
		}
		n++
	}
	return n, nil
}

// virtualMemory returns the size of the process's address space.
func virtualMemory() (int64, error) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var pages int64
	_, err = fmt.Sscan(string(b), &pages)
	return pages * int64(os.Getpagesize()), err
}
