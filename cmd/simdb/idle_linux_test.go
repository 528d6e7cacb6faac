package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
)

// hasTable reports whether a process has a table mapped.
func hasTable(pid int) bool {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	return err == nil && strings.Contains(string(maps), ".sst")
}

// TestIdleSession makes a session wait for its next statement while its open tables are merged. It
// must close them, and then answer as before.
func TestIdleSession(t *testing.T) {
	dir := t.TempDir()
	simdb(t, dir, "x.simdb", "--create", `PUT {"id":"a","text":"one two three"}`)
	simdb(t, dir, "compact", "x.simdb")
	for _, first := range []string{"", "COUNT;\n"} { // wait before the first statement, and after it
		cmd := exec.Command("simdb", "x.simdb")
		cmd.Dir = dir
		in, pipe := piped(t, cmd)
		out := bufio.NewScanner(pipe)
		io.WriteString(in, first)
		for !hasTable(cmd.Process.Pid) { // go test ends the wait at the latest
			time.Sleep(time.Millisecond)
		}
		if first != "" && (!out.Scan() || out.Text() != "1") {
			t.Fatalf("%q", out.Text())
		}
		db, err := engine.Open(dir+"/x.simdb", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Put(t.Context(), engine.Doc{ID: "a", Text: "one two three"}), db.Compact(t.Context(), nil)); err != nil {
			t.Fatal(err)
		}
		for keepsRemoved(cmd.Process.Pid) {
			time.Sleep(time.Millisecond)
		}
		io.WriteString(in, "COUNT;\n")
		if !out.Scan() || out.Text() != "1" {
			t.Errorf("after it has waited: %q", out.Text())
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
