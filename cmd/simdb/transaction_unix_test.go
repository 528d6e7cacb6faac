//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
)

// TestKillInTransaction kills a process that commits transactions, each of which replaces all
// documents. Of every transaction, all writes or none must remain, and all writes of an
// acknowledged one. In every other round the time until the kill starts at the first
// acknowledgement, because on a busy machine the process may otherwise not even have begun.
func TestKillInTransaction(t *testing.T) {
	const each = 30 // documents
	dir := t.TempDir()
	simdb(t, dir, "kill.simdb", "--create", `PUT {"id":"z"}`)
	transaction := func(n int) string {
		var b strings.Builder
		r := rand.New(rand.NewPCG(21, uint64(n)))
		b.WriteString("BEGIN; DELETE WHERE ID LIKE 't%'; ")
		for i := range each {
			fmt.Fprintf(&b, `PUT {"id":"t%d/%02d","text":"%d %s"};`+"\n", n, i, n, strings.Repeat("word ", r.IntN(100)))
		}
		return b.String() + "COMMIT;\n"
	}
	n := 0
	for round := range exhaustive.Every(t, 40).Of(400) {
		cmd := exec.Command("simdb", "kill.simdb")
		cmd.Dir = dir
		in, out := piped(t, cmd)
		from := n + 1
		go func() {
			for i := from; ; i++ {
				if _, err := io.WriteString(in, transaction(i)); err != nil {
					return
				}
			}
		}()
		var timer *time.Timer
		kill := func() {
			wait := rand.New(rand.NewPCG(22, uint64(round))).IntN(80)
			timer = time.AfterFunc(time.Duration(wait)*time.Millisecond, func() { cmd.Process.Kill() })
		}
		if round%2 == 0 {
			kill()
		}
		last := n
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if !strings.HasPrefix(lines.Text(), "committed") {
				continue
			}
			if last++; timer == nil {
				kill()
			}
		}
		cmd.Wait()
		if timer == nil {
			t.Fatalf("round %d: no transaction was acknowledged", round)
		}
		timer.Stop()
		ids := strings.Fields(simdb(t, dir, "kill.simdb", "--format", "ids", "ID LIKE '%'"))
		ids = ids[:len(ids)-1] // without z
		found := 0
		if len(ids) > 0 {
			fmt.Sscanf(ids[0], "t%d/", &found)
		}
		var want []string
		for i := range each {
			want = append(want, fmt.Sprintf("t%d/%02d", found, i))
		}
		if found != 0 && !slices.Equal(ids, want) || found == 0 && len(ids) > 0 || found != last && found != last+1 {
			t.Fatalf("round %d, transactions from %d, acknowledged to %d: %q", round, from, last, ids)
		}
		n = found
	}
}

// scanned reads n lines. It returns false if the input ends before.
func scanned(lines *bufio.Scanner, n int) bool {
	for range n {
		if !lines.Scan() {
			return false
		}
	}
	return true
}

// TestCountersOfProcesses runs two processes that read a number and write the next one, in
// transactions: the number is that of acknowledged commits. A process ends at a conflict, and there is
// at least one.
func TestCountersOfProcesses(t *testing.T) {
	dir := t.TempDir()
	simdb(t, dir, "n.simdb", "--create", `PUT {"id":"n","n":0}`)
	var committed, conflicts atomic.Int64
	var wg sync.WaitGroup
	each := len(slices.Collect(exhaustive.Every(t, 50).Of(1000)))
	for range 2 {
		wg.Go(func() {
			more := func(n int) bool { return n < each || conflicts.Load() == 0 && n < 100*each }
			for n := 0; more(n); {
				cmd := exec.Command("simdb", "n.simdb")
				cmd.Dir = dir
				in, out := piped(t, cmd)
				lines := bufio.NewScanner(out)
				for ; more(n); n++ {
					io.WriteString(in, "BEGIN; GET 'n' SHOW n;\n")
					if !scanned(lines, 2) { // begun, and the number
						break
					}
					now := 0
					fmt.Sscan(lines.Text(), &now)
					fmt.Fprintf(in, `PUT {"id":"n","n":%d}; COMMIT;`+"\n", now+1)
					if !scanned(lines, 2) {
						break
					}
					committed.Add(1)
				}
				in.Close()
				if cmd.Wait() != nil {
					conflicts.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := strings.TrimSpace(simdb(t, dir, "n.simdb", "GET 'n' SHOW n")); n != fmt.Sprint(committed.Load()) || conflicts.Load() == 0 {
		t.Errorf("%s after %d commits and %d conflicts", n, committed.Load(), conflicts.Load())
	}
}
