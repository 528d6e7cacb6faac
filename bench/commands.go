package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// commands are the commands whose time and memory runCommands measures, in this order. fps.tsv
// has n fingerprints and a copy of every tenth, texts.jsonl n/10 texts, more.tsv a tenth of these
// fingerprints, and new.jsonl n/100 texts, half of which are also in texts.jsonl.
var commands = []string{
	"load fps.simdb fps.tsv",
	"compact fps.simdb",
	"check fps.simdb",
	"backup fps.simdb copy",
	"pairs fps.simdb --near 3 -o pairs.tsv",
	"clusters fps.simdb --near 3 -o clusters.tsv",
	"join fps.simdb more.tsv --near 3 -o rows.tsv",
	"load texts.simdb texts.jsonl",
	"compact texts.simdb",
	"pairs texts.simdb --jaccard 0.8 -o pairs.tsv",
	"clusters texts.simdb --jaccard 0.8 -o clusters.tsv",
	"join texts.simdb new.jsonl --id-from line --jaccard 0.8 -o rows.tsv",
	"match texts.simdb new.jsonl --id-from line --jaccard 0.8 -o new.kept.jsonl",
	"match texts.simdb new.jsonl --id-from line --jaccard 0.8 --add -o new.kept.jsonl",
	"pairs texts.jsonl --jaccard 0.8 -o pairs.tsv",
	"dedup texts.jsonl --jaccard 0.8 -o kept.jsonl",
	"dedup texts.jsonl --jaccard 0.8 --memory 64MiB -o kept.jsonl",
	"dedup texts.jsonl --near 6 -o kept.jsonl",
	"dedup new.jsonl --id-from line --against texts.simdb -o kept.jsonl",
	"dedup texts.jsonl --level line -o kept.jsonl",
}

// runCommands runs whole commands of simdb on generated files, and prints the cost of each. It
// builds the program if none is given.
func runCommands(program string, n int, seed uint64) error {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if program == "" {
		program = filepath.Join(dir, "simdb")
		if err := buildSimdb(program); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name, kind string
		n          int
		seed       uint64
	}{
		{"fps.tsv", "fps", n, seed},
		{"more.tsv", "fps", n / 10, seed},
		{"texts.jsonl", "texts", n / 10, seed},
		{"new.jsonl", "texts", n / 200, seed},
		{"new.jsonl", "texts", n / 200, seed + 1},
	} {
		if err := makeFile(filepath.Join(dir, f.name), f.kind, f.n, f.seed); err != nil {
			return err
		}
	}
	t := newTable(os.Stdout, "command", "wall s", "CPU s", "MB")
	for _, command := range commands {
		c := exec.Command(program, append(strings.Fields(command), "-q")...)
		c.Dir = dir
		var said strings.Builder
		c.Stderr = &said
		start := time.Now()
		if err := c.Start(); err != nil {
			return err
		}
		memory := watchMemory(c.Process.Pid)
		err := c.Wait()
		wall, most := time.Since(start), memory()
		if err != nil {
			return fmt.Errorf("simdb %s: %w: %s", command, err, said.String())
		}
		t.add("`"+command+"`", fmt.Sprintf("%.2f", wall.Seconds()),
			fmt.Sprintf("%.2f", (c.ProcessState.UserTime()+c.ProcessState.SystemTime()).Seconds()),
			fmt.Sprintf("%.0f", float64(most)/1e6))
	}
	return t.print()
}

// makeFile appends documents of a kind to a file.
func makeFile(path, kind string, n int, seed uint64) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	return runMake(f, kind, n, seed)
}
