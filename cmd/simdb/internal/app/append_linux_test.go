package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestWritersOnFullDisk appends with several open files to one file on a disk that is often full: lines
// that were acknowledged stay, and no part of another line does.
func TestWritersOnFullDisk(t *testing.T) {
	disk := vfstest.SmallDisk(t, 1)
	path, filler := filepath.Join(disk, "answers.jsonl"), filepath.Join(disk, "filler")
	var writers, fill sync.WaitGroup
	done := make(chan struct{})
	fill.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			f, err := os.Create(filler)
			if err != nil {
				continue // not even for an empty file is there space
			}
			for err == nil {
				_, err = f.Write(make([]byte, 16<<10))
			}
			f.Close()
			os.Remove(filler)
		}
	})
	var acknowledged [3][]string // together twice as much as there is space for
	var failed atomic.Int64
	for w := range acknowledged {
		writers.Go(func() {
			for i := range 2000 {
				line := fmt.Sprintf(`{"writer":%d,"line":%d,"more":"%s"}`, w, i, strings.Repeat("x", 300))
				f, err := OpenToAppend(path)
				if err == nil {
					_, _, err = AppendLine(f, []byte(line+"\n"))
					f.Close()
				}
				if err == nil {
					acknowledged[w] = append(acknowledged[w], line)
				} else {
					failed.Add(1)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	fill.Wait()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		lines[strings.TrimSuffix(line, "\n")] = true
	}
	n := 0
	for _, own := range acknowledged {
		for _, line := range own {
			if !lines[line] {
				t.Errorf("lost: %.40s", line)
			}
		}
		n += len(own)
	}
	if n == 0 || failed.Load() == 0 {
		t.Errorf("%d lines are appended, %d not", n, failed.Load())
	}
	if len(lines) != n || strings.Count(string(b), "\n") != n {
		t.Errorf("%d lines, %d different ones, for %d acknowledged ones", strings.Count(string(b), "\n"), len(lines), n)
	}
}
