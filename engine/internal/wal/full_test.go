package wal

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestFull makes the disk full after any number of bytes of a write of several frames, and of the
// end frame: nothing is appended until there is space, then the same log continues. A reader must
// never see fewer frames than before, and finally all frames, in order.
func TestFull(t *testing.T) {
	payloads := []string{"a", "", "some longer payload", "b"}
	for room := range 200 {
		for _, synced := range []bool{false, true} {
			mem := vfstest.NewMem("")
			w := mustCreate(t, mem, "log")
			if synced {
				must.Do(t, w.Sync(mustAppend(t, w, "first")))
			}
			mem.SetLimit(mem.Used() + room)
			var want []string
			if synced {
				want = append(want, "first")
			}
			var end int64
			fit, left := len(want), int64(room) // frames in the file, and bytes left for more
			for _, p := range payloads {
				end = mustAppend(t, w, p)
				want = append(want, p)
				if left -= frameSize(int64(len(p))); left >= 0 {
					fit++
				}
			}
			full := 0
			before := 0
			step := func(what string, do func() error) {
				t.Helper()
				err := do()
				if vfs.IsNoSpace(err) && errors.Is(err, syscall.ENOSPC) {
					full++
					checkPrefix(t, fmt.Sprintf("room %d, %s", room, what), mem, want, 0)
					got, _, _ := collect(mem, "log", Options{Last: true})
					if what == "sync" && len(got) != fit {
						t.Fatalf("room %d: %d frames, and room for %d", room, len(got), fit)
					}
					if len(got) < before {
						t.Fatalf("room %d, %s: %d frames, and %d before", room, what, len(got), before)
					}
					before = len(got)
					if _, err := w.Append([]byte("more")); !vfs.IsNoSpace(err) && what == "sync" {
						t.Fatalf("room %d: appended: %v", room, err)
					} else if err == nil {
						want = append(want, "more")
					}
					mem.SetLimit(mem.Used() + 5)
					if err := do(); err != nil && !vfs.IsNoSpace(err) {
						t.Fatal(err)
					}
					mem.SetLimit(0)
					err = do()
				}
				if err != nil {
					t.Fatalf("room %d, %s: %v", room, what, err)
				}
			}
			step("sync", func() error { return w.Sync(end) })
			if full == 0 {
				step("end", w.End)
			}
			must.Do(t, w.Close())
			got, res, err := collect(mem, "log", Options{Header: &testHeader})
			if err != nil || !res.Clean || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("room %d: %q, want %q; %+v, %v", room, got, want, res, err)
			}
		}
	}
}

// TestCreateFull makes the disk full at each operation of Create: then there must be no log, and
// the next Create succeeds. If it is unknown whether there is a log, the error is another one.
func TestCreateFull(t *testing.T) {
	counter := vfstest.NewFaulty(vfstest.NewMem(""), nil)
	mustCreate(t, counter, "log")
	for op := 1; op <= counter.Ops(); op++ {
		mem := vfstest.NewMem("")
		fs := vfstest.NewFaulty(mem, vfstest.FailOnce(op, syscall.ENOSPC))
		if _, err := Create(fs, "log", testHeader); !vfs.IsNoSpace(err) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("operation %d: %v", op, err)
		}
		mem = mem.CrashClone(0, 1) // the next log may have another name
		if names, _ := mem.List("."); len(names) > 0 {
			t.Errorf("operation %d: %q was left", op, names)
		}
		mustCreate(t, mem, "log")
		fs = vfstest.NewFaulty(vfstest.NewMem(""), vfstest.FailFrom(op, syscall.ENOSPC))
		if _, err := Create(fs, "log", testHeader); vfs.IsNoSpace(err) != (op == 1) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("operation %d and those after it: %v", op, err)
		}
	}
}
