//go:build linux

package vfs

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAdvise drops, fetches and loads pages of a mapped file, and maps the file again. Its bytes
// must not change.
func TestAdvise(t *testing.T) {
	const size = 8<<20 + 1234
	want := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(want)
	name := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(name, want, 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := Disk.Append(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(); err != nil { // dirty pages cannot be dropped
		t.Fatal(err)
	}
	w.Close()
	f, err := Disk.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, unmap, err := f.Mmap()
	if err != nil {
		t.Fatal(err)
	}
	defer unmap()
	a := f.(Adviser)
	advise := func(from, to int64, advice Advice) {
		t.Helper()
		if !a.Advise(data, from, to, advice) {
			t.Errorf("advice %d of [%d, %d) is refused", advice, from, to)
		}
	}
	advise(0, size, AdviseRandom)
	advise(5, 5, AdviseRandom)
	advise(0, size, AdviseDrop)
	if a.Cached(data, 6<<20) {
		t.Skip("this file system has its files in memory")
	}
	advise(6<<20-1, 6<<20+300<<10, AdviseFetch)
	for _, at := range []int64{6<<20 - 1, 6 << 20, 6<<20 + 300<<10 - 1} {
		for !a.Cached(data, at) { // go test's timeout ends the loop
			time.Sleep(time.Millisecond)
		}
	}
	if a.Cached(data, 7<<20) || a.Cached(data, 5<<20) {
		t.Error("more was read than was asked for")
	}
	if data[4<<20+100] != want[4<<20+100] { // touches a page
		t.Error("the mapping is not the file")
	}
	if !a.Cached(data, 4<<20) || a.Cached(data, 4<<20+64<<10) {
		t.Error("a page that is touched is not read, or others with it")
	}
	advise(1<<20+7, 3<<20, AdviseIndex)
	if !a.Advise(data, 1<<20+7, 3<<20, AdviseLoad) {
		t.Log("this system can't load")
	} else if !a.Cached(data, 1<<20) || !a.Cached(data, 3<<20-1) {
		t.Error("not loaded")
	}
	advise(0, size, AdviseRemap)
	advise(0, size, AdviseNormal)
	if !bytes.Equal(data, want) {
		t.Error("the mapping changed")
	}
	if Memory() < 1<<20 {
		t.Errorf("%d bytes of memory", Memory())
	}
}
