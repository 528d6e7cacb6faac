package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestApplyKilled kills apply at random times, repeatedly. Either all pairs are recorded or none,
// either all documents are deleted or none, and none before the pairs are recorded. In the end
// everything is done, and another run changes nothing.
func TestApplyKilled(t *testing.T) {
	const n = 300
	dir := t.TempDir()
	var docs, lines strings.Builder
	for i := range n {
		for _, id := range []string{"keeper", "drop", "allow"} {
			fmt.Fprintf(&docs, "{\"id\":\"%s-%d\",\"text\":\"the text %d %x %x\"}\n", id, i, i, i*i, i*i*i)
		}
		fmt.Fprintf(&lines, "{\"a\":\"drop-%d\",\"b\":\"keeper-%[1]d\",\"decision\":\"drop\"}\n{\"a\":\"allow-%[1]d\",\"b\":\"keeper-%[1]d\",\"decision\":\"allow\"}\n", i)
	}
	for name, text := range map[string]string{"in.jsonl": docs.String(), "d.jsonl": lines.String()} {
		write(t, filepath.Join(dir, name), text)
	}
	simdb(t, dir, "load", "x.simdb", "in.jsonl", "-q")
	state := func() (allowed, deleted int) {
		db, s := snapshotOf(t, filepath.Join(dir, "x.simdb"))
		for range s.Allowed() {
			allowed++
		}
		st, err := db.Stats()
		if err != nil {
			t.Fatal(err)
		}
		return allowed, 3*n - int(st.Documents)
	}
	partly := 0
	for round, wait := 0, time.Duration(0); ; round, wait = round+1, wait+wait/8+3*time.Millisecond {
		c := exec.Command("simdb", "apply", "x.simdb", "d.jsonl", "-q")
		c.Dir = dir
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(wait, func() { c.Process.Kill() })
		err := c.Wait()
		kill.Stop()
		allowed, deleted := state()
		if allowed != 0 && allowed != n || deleted != 0 && deleted != n || deleted > allowed {
			t.Fatalf("round %d: %d pairs are noted, %d documents are deleted", round, allowed, deleted)
		}
		if allowed != deleted {
			partly++
		}
		if err == nil {
			if deleted != n {
				t.Fatalf("it has ended, and %d documents are deleted", deleted)
			}
			t.Logf("killed %d times, %d of them between the two writes", round, partly)
			break
		}
	}
	simdb(t, dir, "apply", "x.simdb", "d.jsonl", "-q")
	if allowed, deleted := state(); allowed != n || deleted != n {
		t.Errorf("again: %d pairs, %d documents", allowed, deleted)
	}
}
