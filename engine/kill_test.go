//go:build unix

package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// The child of TestKill writes until it is killed, and prints acknowledged writes on standard
// output.
const killChild = "SIMDB_TEST_KILL_CHILD"

// A killPoint is a file operation before which the child kills itself.
type killPoint struct {
	kind   vfstest.OpKind
	suffix string // suffix of the file's name
	nth    int    // count of such operations; from the creation of a log on, if newLog is set
	newLog bool
	torn   bool // half of the write is carried out
}

func (p killPoint) String() string {
	return fmt.Sprintf("%v *%s, number %d, of a new log: %v, torn: %v", p.kind, p.suffix, p.nth, p.newLog, p.torn)
}

// killPoints are the points at which the first children are killed, one each; later children are
// killed at random instants or at random points.
var killPoints = []killPoint{
	{kind: vfstest.OpCreate, suffix: ".wal", nth: 1},
	{kind: vfstest.OpWrite, suffix: ".wal", nth: 1, newLog: true}, // the header
	{kind: vfstest.OpWrite, suffix: ".wal", nth: 1, newLog: true, torn: true},
	{kind: vfstest.OpSync, suffix: ".wal", nth: 1, newLog: true},
	{kind: vfstest.OpSyncDir, nth: 1, newLog: true},
	{kind: vfstest.OpWrite, suffix: ".wal", nth: 2, newLog: true}, // the first frames
	{kind: vfstest.OpWrite, suffix: ".wal", nth: 2, newLog: true, torn: true},
	{kind: vfstest.OpSync, suffix: ".wal", nth: 2, newLog: true},
	{kind: vfstest.OpTruncate, suffix: ".wal", nth: 1},
	{kind: vfstest.OpRemove, suffix: ".wal", nth: 1},
	{kind: vfstest.OpCreate, suffix: ".sst" + files.TempSuffix, nth: 1},
	{kind: vfstest.OpSync, suffix: ".sst" + files.TempSuffix, nth: 1},
	{kind: vfstest.OpRename, suffix: ".sst" + files.TempSuffix, nth: 1},
	{kind: vfstest.OpRemove, suffix: ".sst", nth: 1},
	{kind: vfstest.OpCommit, suffix: files.Catalog, nth: 1},
	{kind: vfstest.OpCommitted, suffix: files.Catalog, nth: 1},
}

// pointsOfNewLogs is the number of the leading killPoints that every child that creates a log
// reaches.
const pointsOfNewLogs = 8

// TestKill kills a writing process, at random instants and at file operations, and checks that its
// acknowledged writes are there. Then another process continues in the open that recovers, and is
// killed too, or the test itself continues and closes the database.
func TestKill(t *testing.T) {
	if path := os.Getenv(killChild); path != "" {
		writeUntilKilled(path)
		return
	}
	cycles := exhaustive.Size(12, 1000)
	db, path := create4test(t, nil)
	must.Do(t, db.Close())
	seed := exhaustive.Seed(t)
	k := &killer{
		path: path, r: rand.New(rand.NewPCG(seed, 1)), acked: map[string]uint64{}, maybe: map[string][]uint64{}, died: map[killPoint]int{},
	}
	looked := 0
	for cycle := range cycles {
		k.cycle(t, cycle)
		if cycle == cycles-1 || k.r.IntN(2) == 0 { // otherwise the next child recovers
			k.look(t)
			looked++
		}
	}
	for _, p := range killPoints[:min(pointsOfNewLogs, cycles)] {
		if k.died[p] == 0 {
			t.Errorf("no child died at: %v", p)
		}
	}
	at := 0
	for _, n := range k.died {
		at += n
	}
	t.Logf("seed %d: %d kills, %d of them at %d operations; recovered by another child that was killed %d times; %d writes, no "+
		"acknowledged one lost", seed, cycles, at, len(k.died), cycles-looked, k.next)
}

// A killer kills children, and records their writes.
type killer struct {
	path  string
	r     *rand.Rand
	next  int                 // number of the next write
	acked map[string]uint64   // the last acknowledged fingerprint of each ID
	maybe map[string][]uint64 // later ones that a kill interrupted, and that may be stored
	died  map[killPoint]int   // how many children died there
}

// cycle lets a child write until it is killed, and records its acknowledged writes.
func (k *killer) cycle(t *testing.T, cycle int) {
	point := -1
	switch {
	case cycle < len(killPoints):
		point = cycle
	case k.r.IntN(3) == 0:
		point = k.r.IntN(len(killPoints))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), killChild+"="+k.path, fmt.Sprintf("SIMDB_TEST_NEXT=%d", k.next), fmt.Sprintf("SIMDB_TEST_POINT=%d", point))
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	most := time.Duration(15+k.r.IntN(60)) * time.Millisecond
	if point >= 0 {
		most = time.Duration(1+k.r.IntN(3)) * time.Second / 2 // some points are not reached
	}
	if point < 0 || point >= pointsOfNewLogs { // otherwise it kills itself
		timer := time.AfterFunc(most, func() { cmd.Process.Kill() })
		defer timer.Stop()
	}
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if sc.Text() == "dying" {
			k.died[killPoints[point]]++
			continue
		}
		number, ok := strings.CutPrefix(sc.Text(), "ack ")
		n, err := strconv.Atoi(number)
		if !ok {
			t.Fatalf("the child says %q", sc.Text())
		}
		if err != nil {
			break // a truncated line
		}
		k.acknowledge(n)
	}
	io.Copy(io.Discard, out)
	cmd.Wait()
	for _, d := range killBatch(k.next) {
		k.maybe[d.ID] = append(k.maybe[d.ID], d.Fingerprints[0][0])
	}
	k.next++
}

func (k *killer) acknowledge(n int) {
	for _, d := range killBatch(n) {
		k.acked[d.ID] = d.Fingerprints[0][0]
		delete(k.maybe, d.ID)
	}
	k.next = n + 1
}

// look opens the database after a kill, checks it, mostly continues writing in the same open, and
// closes it. Then it checks that all files are in use.
func (k *killer) look(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	db, err := Open(k.path, &Options{MustExist: true, MemtableBytes: 10000})
	must.Do(t, err)
	checkKilled(t, db, k.acked, k.maybe)
	for range k.r.IntN(4) * 10 {
		var b Batch
		for _, d := range killBatch(k.next) {
			b.Put(d)
		}
		must.Do(t, db.Apply(ctx, &b))
		k.acknowledge(k.next)
	}
	must.Do(t, db.Close())
	if db, err = Open(k.path, &Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := db.Stats()
	must.Do(t, err)
	onlyItsFiles(t, k.path)
	tables, logs := 0, 0
	for name := range readFolder(t, k.path) {
		if strings.HasSuffix(name, ".sst") {
			tables++
		}
		if strings.HasSuffix(name, ".wal") {
			logs++
		}
	}
	if most := store.MaxReplayedLogs + view.MaxImmutable; tables != len(s.Tables) || logs > most {
		t.Fatalf("%d tables, of which %d are in use; %d logs, at most %d", tables, len(s.Tables), logs, most)
	}
}

// killBatch is write number n: a few documents with one fingerprint.
func killBatch(n int) []Doc {
	var docs []Doc
	for i := range 3 {
		docs = append(docs, Doc{ID: fmt.Sprintf("k%03d-%d", n%170, i), Fingerprints: []Fingerprint{{uint64(n)}}, Text: strings.Repeat("x ", n%50)})
	}
	return docs
}

// checkKilled checks that every document has its last acknowledged value or the value of a later
// write in progress, and that no write is applied in part.
func checkKilled(t *testing.T, db *DB, acked map[string]uint64, maybe map[string][]uint64) {
	t.Helper()
	ctx := context.Background()
	for id, want := range acked {
		e, err := lookupOf(ctx, db, id)
		if err != nil || e.Fingerprint != want && !slices.Contains(maybe[id], e.Fingerprint) {
			t.Fatalf("acknowledged %s = %d, perhaps %d; found %d, %v", id, want, maybe[id], e.Fingerprint, err)
		}
	}
	for n := range 170 {
		var got [3]uint64
		for i := range got {
			e, _ := lookupOf(ctx, db, fmt.Sprintf("k%03d-%d", n, i))
			got[i] = e.Fingerprint
		}
		if got[0] != got[1] || got[1] != got[2] {
			t.Fatalf("half a batch: %v", got)
		}
	}
	if r, err := db.Check(ctx, nil); err != nil || len(r.Problems) > 0 {
		t.Fatal(r.Problems, err)
	}
	for _, e := range acked { // a write in progress may have stored the last value
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
	point, _ := strconv.Atoi(os.Getenv("SIMDB_TEST_POINT"))
	o := &Options{MemtableBytes: 10000, MaxTableBytes: 60_000, policy: eager, mergeSlots: 3}
	if point >= 0 {
		o.fs = vfstest.NewFaulty(vfs.Disk, dieAt(killPoints[point]))
	}
	db, err := Open(path, o)
	if err != nil {
		failKilled("open:", err)
	}
	ctx := context.Background()
	go func() {
		for {
			if err := db.Compact(ctx, nil); err != nil {
				failKilled("compact:", err)
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
			failKilled("apply:", err)
		}
		fmt.Printf("ack %d\n", n)
	}
}

// errTorn is the error of a write that was half finished when the child died.
var errTorn = errors.New("torn")

// failKilled ends a child after an error. The error is a failure of the program, unless it was
// injected to kill the child.
func failKilled(what string, err error) {
	if errors.Is(err, errTorn) {
		dieNow()
	}
	fmt.Println(what, err)
	os.Exit(1)
}

func dieNow() {
	fmt.Println("dying")
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// dieAt returns a function that kills the process before the operation p, or after half of it.
func dieAt(p killPoint) func(vfstest.Op) error {
	counting, n := !p.newLog, 0
	torn := false
	return func(op vfstest.Op) error {
		if torn {
			dieNow()
		}
		if op.Kind == vfstest.OpCreate && strings.HasSuffix(op.Name, ".wal") {
			counting = true
		}
		if !counting || op.Kind != p.kind || !strings.HasSuffix(op.Name, p.suffix) {
			return nil
		}
		if n++; n < p.nth {
			return nil
		}
		if !p.torn {
			dieNow()
		}
		torn = true
		return &vfstest.ShortWrite{N: op.Bytes / 2, Err: errTorn}
	}
}
