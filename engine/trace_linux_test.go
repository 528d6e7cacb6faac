//go:build amd64 || arm64

package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/must"
	"golang.org/x/sys/unix"
)

// A call is a successful system call on a file.
type call struct {
	op     string // "mkdir", "create", "write", "sync", "rename", "remove"
	path   string
	to     string // of a rename
	offset int64  // of a pwrite, otherwise -1
}

// traceCalls runs a command and reports its file operations, in order, to seen. It stops the
// command's threads at each system call.
func traceCalls(t *testing.T, cmd *exec.Cmd, seen func(call)) {
	t.Helper()
	runtime.LockOSThread() // the locked thread is the tracer
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skip("tracing is not permitted here:", err)
	}
	tr := tracer{pid: cmd.Process.Pid, entered: map[int]call{}, known: map[int]bool{}, seen: seen}
	if err := tr.run(); err != nil {
		cmd.Process.Kill()
		t.Fatal(err)
	}
	if tr.status.ExitStatus() != 0 {
		t.Fatalf("the traced process ended with status %d, signal %v", tr.status.ExitStatus(), tr.status.Signal())
	}
}

type tracer struct {
	pid     int
	entered map[int]call // the current call of each thread
	known   map[int]bool // threads
	seen    func(call)
	status  unix.WaitStatus // of the process, when it has ended
}

func (tr *tracer) run() error {
	const ownThread = 0x20000000 // __WNOTHREAD: ignore the children of other tests
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL|ownThread, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECHILD:
			return nil
		case err != nil:
			return fmt.Errorf("waiting for a thread: %w", err)
		case !status.Stopped():
			if tid == tr.pid {
				tr.status = status
			}
			continue
		}
		signal := 0
		switch sig := status.StopSignal(); {
		case len(tr.known) == 0: // the first stop, at its exec
			err = unix.PtraceSetOptions(tid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL)
		case sig == unix.SIGTRAP|0x80:
			err = tr.syscall(tid)
		case sig == unix.SIGTRAP, sig == unix.SIGSTOP && !tr.known[tid]: // a new thread
		default:
			signal = int(sig)
		}
		tr.known[tid] = true
		if err == nil {
			err = unix.PtraceSyscall(tid, signal)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
}

// syscall examines a thread that enters or leaves a system call.
func (tr *tracer) syscall(tid int) error {
	const getInfo, entry, exit = 0x420e, 1, 2 // PTRACE_GET_SYSCALL_INFO
	var info [88]byte
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, getInfo, uintptr(tid), uintptr(len(info)), uintptr(unsafe.Pointer(&info[0])), 0, 0)
	if errno != 0 {
		return fmt.Errorf("reading a system call: %w", errno)
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(info[24+8*i:]) }
	switch info[0] {
	case entry:
		args := [6]uint64{word(1), word(2), word(3), word(4), word(5), word(6)}
		if c := tr.decode(tid, word(0), args); c.op != "" {
			tr.entered[tid] = c
		}
	case exit:
		c, ok := tr.entered[tid]
		delete(tr.entered, tid)
		if ok && int64(word(0)) >= 0 {
			if c.op == "create" {
				c.path = tr.file(word(0))
			}
			tr.seen(c)
		}
	}
	return nil
}

func (tr *tracer) decode(tid int, number uint64, args [6]uint64) call {
	c := call{offset: -1}
	switch number {
	case unix.SYS_OPENAT:
		if args[2]&unix.O_CREAT != 0 {
			c.op = "create"
		}
	case unix.SYS_WRITE, unix.SYS_FTRUNCATE:
		c.op, c.path = "write", tr.file(args[0])
	case unix.SYS_PWRITE64:
		c.op, c.path, c.offset = "write", tr.file(args[0]), int64(args[3])
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		c.op, c.path = "sync", tr.file(args[0])
	case unix.SYS_MKDIRAT:
		c.op, c.path = "mkdir", tr.name(tid, args[0], args[1])
	case unix.SYS_UNLINKAT:
		c.op, c.path = "remove", tr.name(tid, args[0], args[1])
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		c.op, c.path, c.to = "rename", tr.name(tid, args[0], args[1]), tr.name(tid, args[2], args[3])
	}
	return c
}

// file returns the path of an open file.
func (tr *tracer) file(fd uint64) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tr.pid, int32(fd)))
	return path
}

// name returns the path of a call, given an open directory and the address of a string in the
// process's memory.
func (tr *tracer) name(tid int, dir, at uint64) string {
	var buf [1024]byte
	n, _ := unix.PtracePeekData(tid, uintptr(at), buf[:])
	name, _, _ := strings.Cut(string(buf[:n]), "\x00")
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(tr.file(dir), name)
}

// A syncChecker follows the calls of a process that uses one database, and reports data that the
// process relied on before it was durable.
type syncChecker struct {
	db        string          // folder of the database
	dirty     map[string]bool // files with unsynced bytes
	nameless  map[string]bool // files and folders with unsynced names
	commits   int             // number of commits of the catalog
	touched   map[string]int  // value of commits when a file was last written or renamed
	counts    map[string]int
	acks      int
	complaint []string
}

func (s *syncChecker) complain(format string, args ...any) {
	s.complaint = append(s.complaint, fmt.Sprintf("after %d acknowledgements: ", s.acks)+fmt.Sprintf(format, args...))
}

func (s *syncChecker) see(c call) {
	catalog := filepath.Join(s.db, files.Catalog)
	temp := strings.HasSuffix(c.path, ".sst"+files.TempSuffix)
	if strings.HasSuffix(c.path, ackName) {
		if c.op == "write" {
			s.ack()
		}
		return
	}
	if !strings.HasPrefix(c.path, filepath.Dir(filepath.Dir(s.db))) {
		return
	}
	s.counts[c.op]++
	switch c.op {
	case "mkdir", "create":
		if c.op == "create" && filepath.Base(c.path) == files.Lock {
			return
		}
		s.nameless[c.path] = true
	case "write":
		if c.path == catalog {
			s.commit(c)
		}
		s.dirty[c.path], s.touched[c.path] = true, s.commits
	case "sync":
		if c.path == catalog && s.dirty[catalog] {
			s.commits++
		}
		delete(s.dirty, c.path)
		for name := range s.nameless {
			if filepath.Dir(name) == c.path {
				delete(s.nameless, name)
			}
		}
	case "rename":
		if s.dirty[c.path] {
			s.complain("%s was renamed before it was synced", filepath.Base(c.path))
		}
		if temp && (s.dirty[catalog] || s.commits == s.touched[c.path]) {
			s.complain("%s got its name before the catalog lists it", filepath.Base(c.path))
		}
		if !temp {
			s.nameless[c.to] = true
		}
		delete(s.nameless, c.path)
		s.touched[c.to] = s.commits
	case "remove":
		if ext := filepath.Ext(c.path); (ext == ".sst" || ext == ".wal") && (s.dirty[catalog] || s.commits == s.touched[c.path]) {
			s.complain("%s was removed while the catalog may list it", filepath.Base(c.path))
		}
		delete(s.nameless, c.path)
		delete(s.dirty, c.path)
	}
}

// commit checks a write to the catalog: the files that it will list must be durable, and its pages
// must be synced before one of its two roots is written.
func (s *syncChecker) commit(c call) {
	if (c.offset == 0 || c.offset == 4096) && s.dirty[c.path] {
		s.complain("the catalog's root at %d was written before the pages", c.offset)
	}
	for name := range s.dirty {
		if strings.HasSuffix(name, ".sst"+files.TempSuffix) {
			s.complain("%s is published and not synced", filepath.Base(name))
		}
	}
	for name := range s.nameless {
		if strings.HasSuffix(name, ".sst"+files.TempSuffix) {
			s.complain("%s is published and its name not synced", filepath.Base(name))
		}
	}
}

// ack checks that everything is durable.
func (s *syncChecker) ack() {
	s.acks++
	for name := range s.dirty {
		if filepath.Base(name) != files.Lock {
			s.complain("%s is not synced", filepath.Base(name))
		}
	}
	for name := range s.nameless {
		s.complain("the name of %s is not synced", filepath.Base(name))
	}
}

const (
	traceChild = "SIMDB_TEST_TRACE_CHILD"
	ackName    = "acknowledged"
)

// TestSyncOrder traces a process that uses a database in every way, on a real file system: data
// must be synced, including names, after its last write and before it is acknowledged; the catalog
// may only publish durable files; and no file may be removed before the catalog stops listing it.
func TestSyncOrder(t *testing.T) {
	if dir := os.Getenv(traceChild); dir != "" {
		traced(t, dir)
		return
	}
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestSyncOrder$")
	cmd.Env = append(os.Environ(), traceChild+"="+dir)
	s := &syncChecker{
		db: filepath.Join(dir, "new", "db"), dirty: map[string]bool{}, nameless: map[string]bool{},
		touched: map[string]int{}, counts: map[string]int{},
	}
	traceCalls(t, cmd, s.see)
	for i, c := range s.complaint {
		if i == 10 {
			t.Errorf("and %d more", len(s.complaint)-10)
			break
		}
		t.Error(c)
	}
	for op, least := range map[string]int{"mkdir": 2, "create": 10, "write": 50, "sync": 50, "rename": 6, "remove": 6} {
		if s.counts[op] < least {
			t.Errorf("only %d calls of %s were seen, expected %d", s.counts[op], op, least)
		}
	}
	if s.acks < 20 || s.commits < 8 {
		t.Errorf("%d acknowledgements and %d transactions of the catalog were seen", s.acks, s.commits)
	}
	t.Logf("%v, %d acknowledgements, %d transactions", s.counts, s.acks, s.commits)
}
