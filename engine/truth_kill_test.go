//go:build unix

package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
)

// The child of TestTruthKill finds here the database that it writes to until it is killed.
const truthChild = "SIMDB_TEST_TRUTH_CHILD"

// TestTruthKill kills a process that changes the real codes, flushing and compacting all the while,
// and compares NEAR and PAIRS of what is left with brute force. Exactly the acknowledged batches
// are there, and perhaps the one that was under way.
func TestTruthKill(t *testing.T) {
	h := hashKinds[0]
	codes := h.codes(t)
	if path := os.Getenv(truthChild); path != "" {
		changeUntilKilled(path, codes)
		return
	}
	cycles := exhaustive.Size(2, 25)
	path := filepath.Join(t.TempDir(), "x.simdb")
	tr := newTruth(codes)
	queries := distinct(codes)
	db, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	tr.load(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	done := -1 // the last batch that is in the database
	for cycle := range cycles {
		acked := max(done, killTruthChild(t, path, time.Duration(200+97*cycle%300)*time.Millisecond))
		db, err := engine.Open(path, &engine.Options{MustExist: true})
		if err != nil {
			t.Fatalf("cycle %d: %v", cycle, err)
		}
		last := written(t, db)
		if last != acked && last != acked+1 {
			t.Fatalf("cycle %d: batch %d was acknowledged, the database has %d", cycle, acked, last)
		}
		for n := done + 1; n <= last; n++ {
			truthBatch(codes, n, tr)
		}
		done = last
		tr.checkNear(t, db, queries, 211)
		if cycle == cycles-1 {
			tr.checkPairs(t, db, h.k)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d batches", cycles, done+1)
}

// killTruthChild lets a child write for a while and returns the last batch that it acknowledged, -1
// for none.
func killTruthChild(t *testing.T, path string, after time.Duration) (acked int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestTruthKill$")
	cmd.Env = append(os.Environ(), truthChild+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	acked = -1
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		var n int
		if _, err := fmt.Sscanf(sc.Text(), "ack %d.", &n); err != nil {
			t.Fatalf("the child says %q", sc.Text())
		}
		acked = n
	}
	io.Copy(io.Discard, out)
	cmd.Wait()
	return acked
}

// changeUntilKilled applies batch after batch, from the one after the last that is stored.
func changeUntilKilled(path string, codes []uint64) {
	die := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	ctx := context.Background()
	db, err := engine.Open(path, &engine.Options{MemtableBytes: 60000})
	die(err)
	go func() {
		for {
			time.Sleep(20 * time.Millisecond)
			die(db.Compact(ctx))
		}
	}()
	n := 0
	if d, err := db.Get(ctx, writtenID); err == nil {
		_, err = fmt.Sscanf(string(d.Fields), `{"batch":%d}`, &n)
		die(err)
		n++
	}
	for ; ; n++ {
		die(db.Apply(ctx, truthBatch(codes, n, nil)))
		fmt.Printf("ack %d.\n", n)
	}
}
