package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"
)

// reader reads mapped memory in the same way as users of the package.
type reader struct{ data []byte }

var errBlamed = errors.New("blamed")

// sum adds up the first n bytes.
func (r *reader) sum(n int) (sum int, err error) {
	defer r.unguard(Guard(), &err)
	for _, b := range r.data[:n] {
		sum += int(b)
	}
	return sum, nil
}

func (r *reader) unguard(before bool, err *error) {
	Restore(before)
	if p := recover(); p != nil {
		*err = Error(p, r.blame)
	}
}

// blame recognises faults inside r.data.
func (r *reader) blame(f Fault) error {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(r.data)))
	if at := f.Addr() - start; at < uintptr(len(r.data)) {
		return errors.Join(errBlamed, f)
	}
	return nil
}

// cutShort returns the mapping of a file of four pages that was truncated to one.
func cutShort(t *testing.T) []byte {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is mapped cannot be cut short")
	}
	page := os.Getpagesize()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 4*page), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	data, unmap, err := f.Mmap()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(unmap(), f.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := os.Truncate(path, int64(page)); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFault reads the mapping of a truncated file, within the file and beyond its end.
func TestFault(t *testing.T) {
	r := &reader{cutShort(t)}
	if sum, err := r.sum(os.Getpagesize()); sum != 0 || err != nil {
		t.Fatal(sum, err)
	}
	for range 3 {
		_, err := r.sum(len(r.data))
		if _, ok := errors.AsType[Fault](err); !ok || !errors.Is(err, errBlamed) {
			t.Fatalf("a fault is %v", err)
		}
	}
	if before := Guard(); before {
		t.Error("the setting was not restored")
	}
	Restore(false)
}

// TestOtherPanics checks that other panics, and faults outside the reader's memory, are not
// converted.
func TestOtherPanics(t *testing.T) {
	recovered := func(f func()) (p any) {
		defer func() { p = recover() }()
		f()
		return nil
	}
	p := recovered(func() { (&reader{make([]byte, 4)}).sum(5) })
	if _, ok := p.(Fault); ok || p == nil {
		t.Errorf("an index out of range panics with %v", p)
	}
	if p := recovered(func() { Error("text", func(Fault) error { return errBlamed }) }); p != "text" {
		t.Errorf("a panic with a text goes on as %v", p)
	}
	data := cutShort(t)
	outer, inner := &reader{data}, &reader{make([]byte, 8)}
	var err error
	var last byte
	p = recovered(func() {
		defer inner.unguard(Guard(), &err)
		last = data[len(data)-1]
	})
	if f, ok := p.(Fault); !ok || err != nil || !errors.Is(outer.blame(f), errBlamed) {
		t.Errorf("a fault outside panics with %v, the error is %v, what was read %d", p, err, last)
	}
}
