package engine

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
)

// followChild names the database to a child that writes it.
const followChild = "SIMDB_TEST_FOLLOW"

// TestFollowKilled has another process write documents, and kills it again and again, while this
// one reads. A reader finds every document that had been acknowledged when it looked.
func TestFollowKilled(t *testing.T) {
	if path := os.Getenv(followChild); path != "" {
		if err := writeForFollowers(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	kills := exhaustive.Size(5, 25)
	path := filepath.Join(t.TempDir(), "x.simdb")
	must(Create(path, &Options{NoSketch: true}))(t).Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var acked, looks atomic.Int64
	var wg sync.WaitGroup
	for i := range 3 { // the first reads on, the others open it again now and then
		wg.Go(func() {
			n, err := countAcked(ctx, path, &acked, i*20)
			looks.Add(n)
			if err != nil {
				t.Error(err)
				stop()
			}
		})
	}
	r := rand.New(rand.NewPCG(6, 7))
	for range kills {
		if err := killWriter(path, &acked, 50+r.IntN(2000)); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
	t.Logf("%d documents, %d looks", acked.Load(), looks.Load())
	if looks.Load() == 0 {
		t.Error("nothing was read")
	}
}

// writeForFollowers stores documents with small memtables, so that flushes and merges are frequent,
// and writes how many there are after each.
func writeForFollowers(path string) error {
	db, err := Open(path, &Options{MustExist: true, MemtableBytes: 20_000, Sync: SyncNever})
	if err != nil {
		return err
	}
	st, err := db.Stats()
	for n := uint64(st.Documents); err == nil; {
		if err = db.Put(context.Background(), Doc{ID: fmt.Sprint(n), Fingerprint: &n}); err == nil {
			n++
			_, err = fmt.Println(n)
		}
	}
	return err
}

// killWriter starts a writer and kills it after some acknowledgements.
func killWriter(path string, acked *atomic.Int64, writes int) error {
	cmd := exec.Command(os.Args[0], "-test.run=^TestFollowKilled$")
	cmd.Env, cmd.Stderr = append(os.Environ(), followChild+"="+path), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for range writes {
		if !lines.Scan() {
			return fmt.Errorf("the writer ended: %v, %v", lines.Err(), cmd.Wait())
		}
		var n int64
		if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
			return err
		}
		acked.Store(n)
	}
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	cmd.Wait() // it was killed
	return nil
}

// countAcked counts documents until the context ends, and returns how often. It opens the database
// again after reopen looks, unless that is 0.
func countAcked(ctx context.Context, path string, acked *atomic.Int64, reopen int) (looks int64, err error) {
	var db *DB
	for ; ctx.Err() == nil; looks++ {
		least := acked.Load()
		if db == nil {
			db, err = Open(path, &Options{ReadOnly: true})
		} else {
			err = db.Refresh(context.Background())
		}
		if err != nil {
			return looks, err
		}
		st, err := db.Stats()
		if err != nil {
			return looks, err
		}
		if st.Documents < least {
			return looks, fmt.Errorf("%d documents, where %d had been acknowledged", st.Documents, least)
		}
		if reopen > 0 && looks%int64(reopen) == 0 {
			if err := db.Close(); err != nil {
				return looks, err
			}
			db = nil
		}
		time.Sleep(time.Millisecond)
	}
	if db != nil {
		err = db.Close()
	}
	return looks, err
}
