package engine

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// A worker is a process that has a shared database open.
const workerEnv = "SIMDB_TEST_WORKER"

// TestSharedWorker is not a test: it is what a worker runs. The worker prints a line for each family
// that it has stored.
func TestSharedWorker(t *testing.T) {
	args := strings.Fields(os.Getenv(workerEnv))
	if len(args) == 0 {
		t.Skip("only for workers")
	}
	seed, _ := strconv.ParseUint(args[1], 10, 64)
	n, _ := strconv.Atoi(args[2])
	if err := work(args[0], seed, n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const sharedFamilies = 4000

// family returns the fingerprint of a member of a family. Members of different families differ by more
// than 3 bits.
func family(f int, member uint64) uint64 {
	fp := rand.New(rand.NewPCG(uint64(f), 77)).Uint64()
	return fp ^ 1<<(member%64)
}

func work(path string, seed uint64, n int) error {
	db, err := Open(path, &Options{Shared: true, NoSync: true, MemtableBytes: 200_000, BusyTimeout: time.Minute})
	if err != nil {
		return err
	}
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		f := rng.IntN(sharedFamilies)
		d := Doc{ID: fmt.Sprintf("%d-%d-%d", f, seed, i), Fingerprints: []Fingerprint{{family(f, rng.Uint64())}}}
		m, stored, err := db.PutNovel(ctx, d, Near(3))
		if err != nil {
			return err
		}
		if stored {
			fmt.Println("stored", f, d.ID)
		} else {
			fmt.Println("known", f, m.ID)
		}
	}
	return db.Close()
}

// startWorker starts a worker, and returns its lines.
func startWorker(t *testing.T, path string, seed uint64, n int) (*exec.Cmd, *bufio.Scanner) {
	c := exec.Command(os.Args[0], "-test.run", "^TestSharedWorker$")
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", workerEnv, path, seed, n))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	must.Do(t, err)
	return c, bufio.NewScanner(out)
}

// TestSharedFamilies lets processes, some of which are killed, store members of the same families. One
// member of each family is stored, and all processes agree which one.
func TestSharedFamilies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	var g sync.WaitGroup
	var mu sync.Mutex
	keeper := map[int]string{}
	start := time.Now()
	for w := range 8 {
		g.Go(func() {
			for life := 0; ; life++ {
				c, lines := startWorker(t, path, uint64(w*100+life), 2000)
				killed := w < 4 && life < 3
				if killed {
					time.AfterFunc(time.Duration(300+w*200)*time.Millisecond, func() { c.Process.Kill() })
				}
				for lines.Scan() {
					var what, id string
					var f int
					fmt.Sscan(lines.Text(), &what, &f, &id)
					mu.Lock()
					if k := keeper[f]; k != "" && k != id {
						t.Errorf("family %d: %s, but %s was reported before", f, lines.Text(), k)
					}
					keeper[f] = id
					mu.Unlock()
				}
				if err := c.Wait(); !killed {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	g.Wait()
	t.Logf("%d kept, %v", len(keeper), time.Since(start))
	db := must.Get(Open(path, nil))(t)
	defer db.Close()
	stored := map[int]string{}
	for d, err := range db.Range(t.Context(), Range{}) {
		must.Do(t, err)
		f, _ := strconv.Atoi(d.ID[:strings.Index(d.ID, "-")])
		if stored[f] != "" {
			t.Errorf("family %d has %s and %s", f, stored[f], d.ID)
		}
		stored[f] = d.ID
	}
	for f, id := range keeper {
		if stored[f] != id {
			t.Errorf("family %d: stored %q instead of %q", f, stored[f], id)
		}
	}
}

// TestSharedMetrics reads the metrics of a database while turns end, which closes the catalog: the bytes
// that it has written are counted over all turns.
func TestSharedMetrics(t *testing.T) {
	db := must.Get(Open(t.TempDir()+"/x.simdb", &Options{Shared: true}))(t)
	defer db.Close()
	last := int64(0)
	for i := range 10 {
		must.Do(t, db.Put(t.Context(), Doc{ID: strconv.Itoa(i), Text: "some words"}))
		must.Do(t, db.Flush(t.Context()))
		grown := db.Metrics().CatalogBytes
		if grown <= last {
			t.Fatalf("the catalog has written %d bytes after flush %d, %d before", grown, i, last)
		}
		for end := time.Now().Add(8 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) { // the turn ends
			if last = db.Metrics().CatalogBytes; last < grown {
				t.Fatalf("the catalog has written %d bytes, %d before", last, grown)
			}
		}
	}
}
