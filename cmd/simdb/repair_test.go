package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepair checks that repair removes and reports the remains of a killed process. It must leave
// everything else, also a table that does not belong to the database, which it names.
func TestRepair(t *testing.T) {
	dir := t.TempDir()
	if code, _, talk := simdbIn(t, dir, twoDocuments, "load", "x.simdb", "-"); code != 0 {
		t.Fatal(talk)
	}
	for name, size := range map[string]int{"000077.sst.tmp": 3000, "CATALOG.tmp": 10, "000099.sst.orphan": 5} {
		write(t, filepath.Join(dir, "x.simdb", name), make([]byte, size))
	}
	code, data, talk := simdbIn(t, dir, "", "repair", "x.simdb")
	if code != 0 || data != "" || !strings.Contains(talk, "2 files removed") || !strings.Contains(talk, "000077.sst.tmp") ||
		!strings.Contains(talk, "000099.sst.orphan") || strings.Contains(talk, "nothing") {
		t.Errorf("exit status %d, %q, %q", code, data, talk)
	}
	left, err := filepath.Glob(filepath.Join(dir, "x.simdb", "*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x.simdb", "000099.sst.orphan")); err != nil {
		t.Error(err)
	}
	if code, _, talk := simdbIn(t, dir, "", "repair", "x.simdb"); code != 0 || !strings.Contains(talk, "there was nothing to remove") {
		t.Errorf("again: exit status %d, %q", code, talk)
	}
	if code, data, talk := simdbIn(t, dir, "", "x.simdb", "COUNT NEAR('a', 64)"); code != 0 || data != "1\n" {
		t.Errorf("exit status %d, %q, %q", code, data, talk)
	}
}
