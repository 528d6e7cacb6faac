package engine

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// slowDisk is the file system of the disk, but each page of a mapped table must be read from a
// device that needs some time, and serves any number of reads at once. No page is in memory when a
// file is mapped. The pages come from userfaultfd: a thread that touches a missing page sleeps in
// the kernel, as for a real device, until another process, the server, has copied the page.
type slowDisk struct {
	vfs.FS
	root string // of the names; "" if they are paths
	*slowReads
}

// slowReads are the reads of a slowDisk.
type slowReads struct {
	fd      int // of userfaultfd
	mu      sync.Mutex
	server  io.Writer // commands
	replies *bufio.Reader
}

// slowRoot is a folder of a slowDisk.
type slowRoot struct {
	*slowDisk
	io.Closer
}

// slowFile is a table on a slowDisk.
type slowFile struct {
	vfs.File
	disk *slowReads
	path string
}

// newSlowDisk starts the server, which ends with the test. It skips the test if the system does
// not permit userfaultfd.
func newSlowDisk(t testing.TB) *slowDisk {
	t.Helper()
	if os.Getpagesize() != 4096 {
		t.Skip("pages are not of 4,096 bytes")
	}
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0, 0)
	if errno != 0 {
		t.Skip("no userfaultfd: ", errno)
	}
	api := [3]uint64{0xaa}
	if err := uffd(int(fd), 0xc018aa3f, unsafe.Pointer(&api)); err != nil { // UFFDIO_API
		t.Skip("no userfaultfd: ", err)
	}
	faults := os.NewFile(fd, "userfaultfd")
	c := exec.Command(os.Args[0], "-test.run", "^TestSlowDisk$")
	c.Env = append(os.Environ(), "SIMDB_TEST_SLOWDISK=1")
	c.ExtraFiles, c.Stderr = []*os.File{faults}, os.Stderr
	in := must.Get(c.StdinPipe())(t)
	out := must.Get(c.StdoutPipe())(t)
	must.Do(t, c.Start())
	t.Cleanup(func() { // after the files are unmapped
		in.Close()
		io.Copy(io.Discard, out)
		faults.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &slowDisk{FS: vfs.Disk, slowReads: &slowReads{fd: int(fd), server: in, replies: bufio.NewReader(out)}}
}

func uffd(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// command lets the server do something, and returns the number of pages read since the last command
// "delay", which sets the time that a read needs.
func (d *slowReads) command(format string, args ...any) (pages int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.server, format+"\n", args...)
	if _, err := fmt.Fscanln(d.replies, &pages); err != nil {
		panic(err)
	}
	return pages
}

func (d *slowDisk) Open(name string) (vfs.File, error) {
	f, err := d.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sst") {
		return f, err
	}
	return &slowFile{f, d.slowReads, filepath.Join(d.root, name)}, nil
}

func (d *slowDisk) OpenRoot(dir string) (vfs.Root, error) {
	root, err := d.FS.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return slowRoot{&slowDisk{root, filepath.Join(d.root, dir), d.slowReads}, root}, nil
}

// Mmap maps anonymous memory, whose pages the server fills.
func (f *slowFile) Mmap() ([]byte, func() error, error) {
	size, err := f.Size()
	if err != nil || size == 0 {
		return f.File.Mmap()
	}
	data, err := unix.Mmap(-1, 0, int(size+4095)&^4095, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, nil, err
	}
	at := uint64(uintptr(unsafe.Pointer(&data[0])))
	f.disk.command("map %d %d %s", at, len(data), f.path)
	register := [4]uint64{at, uint64(len(data)), 1}                                // missing pages
	if err := uffd(f.disk.fd, 0xc020aa00, unsafe.Pointer(&register)); err != nil { // UFFDIO_REGISTER
		return nil, nil, errors.Join(err, unix.Munmap(data))
	}
	return data[:size:size], sync.OnceValue(func() error { return unix.Munmap(data) }), nil
}

// Advise reads what is to be fetched or loaded, and ignores all other advice.
func (f *slowFile) Advise(data []byte, from, to int64, a vfs.Advice) bool {
	switch {
	case from >= to:
	case a == vfs.AdviseFetch:
		f.disk.command("fetch %d %d", uintptr(unsafe.Pointer(&data[0]))+uintptr(from), to-from)
	case a == vfs.AdviseLoad:
		from &^= 4095
		return unix.Madvise(data[from:to:to], unix.MADV_POPULATE_READ) == nil
	}
	return true
}

// Cached says that nothing is in memory.
func (f *slowFile) Cached([]byte, int64) bool { return false }

// slowServer is the process that fills pages.
type slowServer struct {
	mu    sync.Mutex
	delay time.Duration
	maps  []slowMap
	pages int // that were read
}

type slowMap struct {
	at, size uint64
	data     []byte
	asked    []bool // by page
}

// serve fills pages until the standard input ends.
func (s *slowServer) serve() error {
	go func() {
		for {
			var msg [32]byte // an event: its kind is the first byte, the address is at 16
			if n, err := unix.Read(3, msg[:]); err == nil && n == len(msg) && msg[0] == 0x12 {
				s.fetch(binary.NativeEndian.Uint64(msg[16:]), 1)
			} else if err != nil && err != unix.EINTR && err != unix.EAGAIN {
				return
			}
		}
	}()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println(s.count()) {
		var at, size uint64
		var path string
		if n, _ := fmt.Sscanf(in.Text(), "map %d %d %s", &at, &size, &path); n == 3 {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			s.mu.Lock()
			s.maps = append(s.maps, slowMap{at, size, append(data, make([]byte, int(size)-len(data))...), make([]bool, size/4096)})
			s.mu.Unlock()
		} else if n, _ := fmt.Sscanf(in.Text(), "fetch %d %d", &at, &size); n == 2 {
			s.fetch(at, size)
		} else if n, _ := fmt.Sscanf(in.Text(), "delay %d", &size); n == 1 {
			s.mu.Lock()
			s.delay, s.pages = time.Duration(size), 0
			s.mu.Unlock()
		}
	}
	return nil
}

func (s *slowServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages
}

// fetch copies those pages that no earlier call has requested, after the delay.
func (s *slowServer) fetch(at, size uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.maps) - 1; i >= 0; i-- { // the newest has the address, if an older one was unmapped
		m := &s.maps[i]
		if at < m.at || at >= m.at+m.size {
			continue
		}
		for page := (at - m.at) / 4096; page <= (at-m.at+size-1)/4096 && page < uint64(len(m.asked)); page++ {
			if m.asked[page] {
				continue
			}
			m.asked[page] = true
			s.pages++
			fill := func() {
				from := m.data[page*4096:]
				uffd(3, 0xc028aa03, unsafe.Pointer(&[5]uint64{m.at + page*4096, uint64(uintptr(unsafe.Pointer(&from[0]))), 4096})) // UFFDIO_COPY
			}
			if s.delay == 0 {
				fill()
			} else {
				time.AfterFunc(s.delay, fill)
			}
		}
		return
	}
}

// TestSlowDisk reads files through a slowDisk: touched and fetched pages have the contents of the
// file. It is also the server of the slow disks of other tests.
func TestSlowDisk(t *testing.T) {
	if os.Getenv("SIMDB_TEST_SLOWDISK") != "" {
		if err := new(slowServer).serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	d := newSlowDisk(t)
	d.command("delay %d", time.Millisecond)
	for size := 1; size < 100_000; size = size*3 + 1 {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * 7 / 5)
		}
		path := filepath.Join(t.TempDir(), "x.sst")
		must.Do(t, os.WriteFile(path, want, 0o666))
		f, err := d.Open(path)
		must.Do(t, err)
		data, unmap, err := f.Mmap()
		must.Do(t, err)
		f.(vfs.Adviser).Advise(data, int64(size/2), int64(size), vfs.AdviseFetch)
		if !bytes.Equal(data, want) {
			t.Errorf("%d bytes differ", size)
		}
		if err := errors.Join(unmap(), f.Close()); err != nil {
			t.Error(err)
		}
	}
	if pages := d.command("count"); pages < 40 {
		t.Errorf("%d pages were read", pages)
	}
}
