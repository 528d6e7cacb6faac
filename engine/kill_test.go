//go:build unix

package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The child of TestKill writes until it is killed, and says on standard output what was acknowledged.
const killChild = "SIMDB_TEST_KILL_CHILD"

// TestKill kills a writing process at random instants and looks for what it had acknowledged. SIMDB_KILL_CYCLES sets how often.
func TestKill(t *testing.T) {
	if path := os.Getenv(killChild); path != "" {
		writeUntilKilled(path)
		return
	}
	cycles := 60
	if s := os.Getenv("SIMDB_KILL_CYCLES"); s != "" {
		cycles, _ = strconv.Atoi(s)
	} else if testing.Short() {
		cycles = 8
	}
	db, path := create4test(t, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	acked := map[string]uint64{}   // the last acknowledged fingerprint of each ID
	maybe := map[string][]uint64{} // later ones that a kill came upon, and that may have happened
	next := 0
	for cycle := range cycles {
		started := killCycle(t, path, r, next, acked, maybe)
		next = started + 1
		db, err := Open(path, &Options{MustExist: true})
		if err != nil {
			t.Fatalf("cycle %d: %v", cycle, err)
		}
		checkKilled(t, db, acked, maybe)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d writes acknowledged, none lost", cycles, next)
}

// killCycle lets a child write for a moment from write number next on, kills it, and notes what it acknowledged. It returns the
// number of the last write that may have happened.
func killCycle(t *testing.T, path string, r *rand.Rand, next int, acked map[string]uint64, maybe map[string][]uint64) (started int) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), killChild+"="+path, fmt.Sprintf("SIMDB_TEST_NEXT=%d", next))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Duration(15+r.IntN(60))*time.Millisecond, func() { cmd.Process.Kill() })
	defer timer.Stop()
	started = next
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		n, err := strconv.Atoi(strings.TrimPrefix(sc.Text(), "ack "))
		if err != nil {
			if !strings.HasPrefix(sc.Text(), "ack ") {
				t.Fatalf("the child says %q", sc.Text())
			}
			break // a line that was cut
		}
		for _, d := range killBatch(n) {
			acked[d.ID] = *d.Fingerprint
			delete(maybe, d.ID)
		}
		started = n + 1
	}
	io.Copy(io.Discard, out)
	cmd.Wait()
	for _, d := range killBatch(started) {
		maybe[d.ID] = append(maybe[d.ID], *d.Fingerprint)
	}
	return started
}

// killBatch is write number n: a few documents that belong together.
func killBatch(n int) []Doc {
	var docs []Doc
	for i := range 3 {
		docs = append(docs, Doc{ID: fmt.Sprintf("k%03d-%d", n%170, i), Fingerprint: new(uint64(n)), Text: strings.Repeat("x ", n%50)})
	}
	return docs
}

// checkKilled checks that every acknowledged document has its last acknowledged value, or that of a write after it that was
// under way; and that no write is there by half.
func checkKilled(t *testing.T, db *DB, acked map[string]uint64, maybe map[string][]uint64) {
	t.Helper()
	ctx := context.Background()
	for id, want := range acked {
		e, err := db.Lookup(ctx, id)
		if err != nil || e.Fingerprint != want && !slices.Contains(maybe[id], e.Fingerprint) {
			t.Fatalf("acknowledged %s = %d, perhaps %d; found %d, %v", id, want, maybe[id], e.Fingerprint, err)
		}
	}
	for n := range 170 {
		var got [3]uint64
		for i := range got {
			e, _ := db.Lookup(ctx, fmt.Sprintf("k%03d-%d", n, i))
			got[i] = e.Fingerprint
		}
		if got[0] != got[1] || got[1] != got[2] {
			t.Fatalf("half a batch: %v", got)
		}
	}
	if r, err := db.Check(ctx, nil); err != nil || len(r.Problems) > 0 {
		t.Fatal(r.Problems, err)
	}
	for _, e := range acked { // what was under way may have become the last value
		for m, err := range db.Near(ctx, e, 0) {
			if err != nil || m.Distance != 0 {
				t.Fatal(m, err)
			}
		}
		break
	}
}

func writeUntilKilled(path string) {
	n, _ := strconv.Atoi(os.Getenv("SIMDB_TEST_NEXT"))
	db, err := Open(path, &Options{MemtableBytes: 10000})
	if err != nil {
		fmt.Println("open:", err)
		os.Exit(1)
	}
	ctx := context.Background()
	go func() {
		for {
			if err := db.Compact(ctx, nil); err != nil {
				fmt.Println("compact:", err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	for ; ; n++ {
		var b Batch
		for _, d := range killBatch(n) {
			b.Put(d)
		}
		if err := db.Apply(ctx, &b); err != nil {
			fmt.Println("apply:", err)
			os.Exit(1)
		}
		fmt.Printf("ack %d\n", n)
	}
}
