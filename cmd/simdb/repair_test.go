package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/sstable"
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

// TestRepairDamage damages the index of IDs, the directory and the texts of a table in turn. Indexes
// are rebuilt; a document that cannot be read is listed, and stays until it is given up.
func TestRepairDamage(t *testing.T) {
	for section, lost := range map[string]bool{"ids": false, "ids directory": false, "blocks": true} {
		dir := t.TempDir()
		if code, _, talk := simdbIn(t, dir, twoDocuments, "load", "x.simdb", "-"); code != 0 {
			t.Fatal(talk)
		}
		files, err := filepath.Glob(filepath.Join(dir, "x.simdb", "*.sst"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		table, err := sstable.Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		sections := table.Info().Sections
		table.Close()
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections {
			if s.Name == section {
				data[s.Offset+s.Length/2] ^= 1
			}
		}
		write(t, files[0], data)
		code, rows, talk := simdbIn(t, dir, "", "repair", "x.simdb", "--format", "jsonl")
		if lost && (code != 1 || !strings.Contains(rows, `"ids":["a"`) || !strings.Contains(talk, "--drop-lost")) ||
			!lost && (code != 0 || !strings.Contains(talk, "a damaged table was rebuilt, of 2 documents")) {
			t.Errorf("%s: exit status %d, %q, %q", section, code, rows, talk)
		}
		if lost {
			if code, _, _ := simdbIn(t, dir, "", "check", "x.simdb"); code != 1 {
				t.Errorf("%s: check: exit status %d", section, code)
			}
			if code, rows, talk := simdbIn(t, dir, "", "repair", "x.simdb", "--drop-lost"); code != 0 {
				t.Errorf("%s: exit status %d, %q, %q", section, code, rows, talk)
			}
		}
		code, _, talk = simdbIn(t, dir, "", "check", "x.simdb")
		_, count, _ := simdbIn(t, dir, "", "x.simdb", "COUNT")
		if code != 0 || (count == "2\n") == lost {
			t.Errorf("%s: check: exit status %d, %q, %s documents", section, code, talk, count)
		}
	}
}
