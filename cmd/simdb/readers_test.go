//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// Programs of TestReaders, other than simdb, that the test binary can run as.
const (
	readersWriter = "simdb-test-writer"
	readersReader = "simdb-test-reader"
)

func init() {
	testPrograms[readersWriter], testPrograms[readersReader] = writeForReaders, readBesideWriter
}

// TestReaders has one process that writes without a pause, with flushes, merges, loads and prunes,
// while four processes read through package engine and four are sessions of the command line on a
// pipe. Every second it kills a random one of the nine. The readers make backups, too. No process
// may get an error. Every look at the database must find the state after an operation that is not
// before the last operation acknowledged when the look began. No process may hold a removed file
// for a second.
func TestReaders(t *testing.T) {
	length, every := exhaustive.Size(2*time.Second, 2*time.Minute), exhaustive.Size(300*time.Millisecond, time.Second)
	dir := t.TempDir()
	db := must.Get(engine.Create(filepath.Join(dir, "x.simdb"), &engine.Options{NoSketch: true}))(t)
	must.Do(t, errors.Join(db.Close(), os.WriteFile(filepath.Join(dir, "acked"), make([]byte, 8), 0o666)))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	end := time.Now().Add(length)
	s := &readersTest{dir: dir, acked: newAcked(t, dir), rng: rand.New(rand.NewPCG(1, 2))}
	var wg sync.WaitGroup
	for i := range 9 {
		p := &readersProcess{test: s, random: rand.New(rand.NewPCG(3, uint64(i)))}
		s.processes = append(s.processes, p)
		loop := p.program
		switch {
		case i == 0:
			p.name = readersWriter
		case i < 5:
			p.name, p.args = readersReader, []string{fmt.Sprint("backup", i)}
		default:
			p.name, loop = "simdb", p.session
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := loop(ctx); err != nil {
					t.Errorf("%s: %v", p.name, err)
					stop()
				}
			}
		})
	}
	wg.Go(func() {
		defer stop()
		s.kill(ctx, every, end)
	})
	wg.Wait()
	s.report(t)
	s.compare(t)
}

type readersTest struct {
	dir       string
	acked     *acked
	processes []*readersProcess
	rng       *rand.Rand

	mu    sync.Mutex
	kills int
	held  time.Duration              // longest time that a process held a removed file
	looks map[string][]time.Duration // by program: durations of Refresh, or of a statement
}

// readersProcess is one of the nine processes. It is started again whenever it was killed.
type readersProcess struct {
	test   *readersTest
	name   string
	args   []string
	random *rand.Rand

	mu      sync.Mutex
	process *os.Process // nil while it does not run
	killed  bool
	holds   time.Time // since when it holds a removed file; zero if it does not
}

// start starts the process with a pipe to its standard input and from its standard output.
func (p *readersProcess) start(args ...string) (*exec.Cmd, io.WriteCloser, *bufio.Scanner, *strings.Builder, error) {
	cmd := exec.Command(p.name, args...)
	cmd.Dir = p.test.dir
	talk := new(strings.Builder)
	cmd.Stderr = talk
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, nil, nil, err
	}
	p.mu.Lock()
	p.process, p.killed = cmd.Process, false
	p.mu.Unlock()
	return cmd, in, bufio.NewScanner(out), talk, nil
}

// ended waits for the process. It returns an error unless the process was killed or succeeded.
func (p *readersProcess) ended(cmd *exec.Cmd, talk *strings.Builder, failure error) error {
	err := cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process, p.holds = nil, time.Time{}
	if p.killed {
		return nil
	}
	if err = errors.Join(failure, err); err != nil {
		err = fmt.Errorf("%w: %s", err, talk)
	}
	return err
}

// program runs the writer or a reader until it is killed or the test ends. The process ends when
// its input does. A reader writes a line for each look.
func (p *readersProcess) program(ctx context.Context) error {
	cmd, in, out, talk, err := p.start(p.args...)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { in.Close() })()
	for out.Scan() {
		took, err := time.ParseDuration(out.Text())
		if err != nil {
			return errors.Join(err, p.ended(cmd, talk, nil))
		}
		p.test.looked(p.name, took)
	}
	return p.ended(cmd, talk, nil)
}

// session repeatedly asks a session of simdb for all IDs. Sometimes it pauses for a while.
func (p *readersProcess) session(ctx context.Context) error {
	cmd, in, out, talk, err := p.start("x.simdb", "--format", "tsv")
	if err != nil {
		return err
	}
	for err == nil && ctx.Err() == nil {
		acked := p.test.acked.load()
		start := time.Now()
		if _, err = io.WriteString(in, "ID LIKE '%';\nCOUNT ID LIKE 'none%';\n"); err != nil {
			break
		}
		got, ended := map[string]int{}, false
		for out.Scan() {
			if ended = out.Text() == "0"; ended {
				break
			}
			got[out.Text()] = 0
		}
		if !ended {
			err = io.ErrUnexpectedEOF
			break
		}
		p.test.looked(p.name, time.Since(start))
		_, err = check(got, acked)
		if p.random.IntN(100) == 0 {
			select {
			case <-time.After(2 * time.Second):
			case <-ctx.Done():
			}
		}
	}
	in.Close()
	return p.ended(cmd, talk, err)
}

func (s *readersTest) looked(name string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looks == nil {
		s.looks = map[string][]time.Duration{}
	}
	s.looks[name] = append(s.looks[name], took)
}

// kill kills a process every so often, and checks which processes hold removed files, until the
// end, or on a busy machine until enough has been done.
func (s *readersTest) kill(ctx context.Context, every time.Duration, end time.Time) {
	next := time.Now().Add(every)
	for ctx.Err() == nil && (time.Now().Before(end) || s.lacks() != "") {
		time.Sleep(20 * time.Millisecond)
		for _, p := range s.processes {
			s.look(p)
		}
		if time.Now().Before(next) {
			continue
		}
		next = next.Add(every)
		p := s.processes[s.rng.IntN(len(s.processes))]
		p.mu.Lock()
		if p.process != nil {
			p.killed = true
			p.process.Kill()
			s.kills++
		}
		p.mu.Unlock()
	}
}

// look notes how long a process holds a removed file.
func (s *readersTest) look(p *readersProcess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.process == nil || !keepsRemoved(p.process.Pid):
		p.holds = time.Time{}
	case p.holds.IsZero():
		p.holds = time.Now()
	default:
		s.held = max(s.held, time.Since(p.holds))
	}
}

// keepsRemoved reports whether a process has a table mapped whose file is removed.
func keepsRemoved(pid int) bool {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	return err == nil && strings.Contains(string(maps), ".sst (deleted)")
}

// report logs the work of the run.
func (s *readersTest) report(t *testing.T) {
	t.Logf("%d operations acknowledged, %d kills", s.acked.load(), s.kills)
	for name, took := range s.looks {
		slices.Sort(took)
		t.Logf("%s: %d looks, median %v, 99 %% %v, longest %v", name, len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	}
	t.Logf("a removed file was kept for at most %v", s.held)
	if runtime.GOOS == "linux" && s.held == 0 {
		t.Log("no process was seen with one")
	}
	if lacks := s.lacks(); lacks != "" {
		t.Error(lacks)
	}
}

// lacks names something that a run must do to be meaningful and has not done, or returns "".
func (s *readersTest) lacks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{readersReader, "simdb"} {
		if len(s.looks[name]) == 0 {
			return name + " has seen nothing"
		}
	}
	if n := s.acked.load(); n < 1000 {
		return fmt.Sprintf("only %d operations", n)
	}
	return ""
}

// compare opens the database for writing, compares it, closes it, and checks that no surplus file
// remains.
func (s *readersTest) compare(t *testing.T) {
	path := filepath.Join(s.dir, "x.simdb")
	db := must.Get(engine.Open(path, &engine.Options{MustExist: true}))(t)
	defer db.Close()
	if _, err := lookAt(t.Context(), db, s.acked.load(), rand.New(rand.NewPCG(5, 6))); err != nil {
		t.Error(err)
	}
	if report, err := db.Check(t.Context(), nil); err != nil || len(report.Problems) > 0 {
		t.Errorf("check: %v, %v", report.Problems, err)
	}
	// A flush removes its logs, and also a log without writes that a kill has left.
	last := engine.Doc{ID: "last", Text: "to be flushed"}
	if err := errors.Join(db.Put(t.Context(), last), db.Compact(t.Context(), nil), db.Close()); err != nil {
		t.Error(err)
	}
	entries := must.Get(os.ReadDir(path))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != 3 { // CATALOG, LOCK and a table
		t.Errorf("the folder has %v", names)
	}
}

// acked stores the number of the last acknowledged operation in a file.
type acked struct{ f *os.File }

func newAcked(t testing.TB, dir string) *acked {
	f := must.Get(os.OpenFile(filepath.Join(dir, "acked"), os.O_RDWR, 0))(t)
	t.Cleanup(func() { f.Close() })
	return &acked{f}
}

func (a *acked) load() int {
	var b [8]byte
	a.f.ReadAt(b[:], 0)
	return int(binary.LittleEndian.Uint64(b[:]))
}

func (a *acked) store(n int) error {
	_, err := a.f.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(n)), 0)
	return err
}

func untilInputEnds() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return ctx
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// writeForReaders is the program of the writer.
func writeForReaders() {
	ctx := untilInputEnds()
	f, err := os.OpenFile("acked", os.O_RDWR, 0)
	exitOn(err)
	a := &acked{f}
	db, err := engine.Open("x.simdb", &engine.Options{MustExist: true, NoSync: true, MemtableBytes: 100_000, BusyTimeout: 10 * time.Second})
	exitOn(err)
	for n := a.load() + 1; ctx.Err() == nil; n++ {
		exitOn(operate(db, n))
		exitOn(a.store(n))
	}
	exitOn(db.Close())
}

// operate does operation n. A killed process may have done it before, completely or in part.
func operate(db *engine.DB, n int) error {
	ctx := context.Background()
	fp := fingerprintOf(n)
	doc := func(id string) engine.Doc {
		return engine.Doc{ID: id, Fingerprints: []engine.Fingerprint{{fp}}, Time: timeOf(n)}
	}
	earlier := before(n) // it wrote the document "n" that this operation replaces
	for earlier > 0 && kindOf(earlier) == opLoad {
		earlier = before(earlier)
	}
	switch kindOf(n) {
	case opPut, opDelete:
		var b engine.Batch
		if kindOf(n) == opPut {
			b.Put(doc(newID(n)))
			b.Put(doc(replacedID(n)))
		} else {
			b.Delete(replacedID(n))
		}
		if earlier > 0 {
			b.Delete(newID(earlier))
		}
		return db.Apply(ctx, &b)
	case opLoad:
		l, err := db.NewLoader(ctx, &engine.LoadOptions{Replace: true, MemoryBytes: 1 << 20})
		if err == nil {
			err = l.Add(doc(replacedID(n)))
			_, e := l.Close()
			err = errors.Join(err, e)
		}
		return err
	case opPrune:
		_, err := db.Prune(ctx, timeOf(prunedBefore(n)), nil)
		return err
	case opFlush:
		return db.Flush(ctx)
	}
	return db.Compact(ctx, nil)
}

// readBesideWriter is the program of a reader: it refreshes and looks, and sometimes opens the
// database again.
func readBesideWriter() {
	ctx := untilInputEnds()
	f, err := os.Open("acked")
	exitOn(err)
	a := &acked{f}
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	var db *engine.DB
	_, err = lookAtBackup(os.Args[1], 0, r) // left by a reader that was killed, perhaps while it made the backup
	exitOn(err)
	for looks := 1; ctx.Err() == nil; looks++ {
		acked := a.load()
		start := time.Now()
		if db == nil {
			db, err = engine.Open("x.simdb", &engine.Options{ReadOnly: true})
		} else {
			err = db.Refresh(context.Background())
		}
		took := time.Since(start)
		exitOn(err)
		_, err = lookAt(context.Background(), db, acked, r)
		exitOn(err)
		fmt.Println(took)
		if looks%50 == 0 {
			_, err := db.Backup(context.Background(), os.Args[1], nil)
			exitOn(err)
			made, err := lookAtBackup(os.Args[1], acked, r)
			if err == nil && !made {
				err = errors.New("there is no backup")
			}
			exitOn(err)
		}
		if r.IntN(20) == 0 {
			exitOn(db.Close())
			db = nil
		}
	}
	if db != nil {
		exitOn(db.Close())
	}
}

// lookAtBackup compares a backup as lookAt does, and reports whether there is one.
func lookAtBackup(path string, acked int, r *rand.Rand) (bool, error) {
	if _, err := os.Stat(filepath.Join(path, "CATALOG")); err != nil {
		return false, nil
	}
	db, err := engine.Open(path, &engine.Options{ReadOnly: true})
	if err != nil {
		return true, err
	}
	_, err = lookAt(context.Background(), db, acked, r)
	return true, errors.Join(err, db.Close())
}

// lookAt compares the content of a snapshot with the states from operation acked on, and a search
// in it with brute force. It returns the operation after which the snapshot was taken.
func lookAt(ctx context.Context, db *engine.DB, acked int, r *rand.Rand) (int, error) {
	s, err := db.Snapshot()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	got, near := map[string]int{}, map[string]int{}
	const inverse = 0xf1de83e19937733d // of the factor in fingerprintOf, modulo 2^64
	probe := fingerprintOf(max(acked-r.IntN(residues), 1)) ^ 1<<r.IntN(64) ^ 1<<r.IntN(64)
	for e, err := range s.Range(ctx, engine.Range{}) {
		if err != nil {
			return 0, err
		}
		got[e.ID] = int(e.Fingerprints[0][0] * inverse)
		if d := bits.OnesCount64(e.Fingerprints[0][0] ^ probe); d <= 6 {
			near[e.ID] = d
		}
	}
	for m, err := range s.Search(ctx, engine.Doc{Fingerprints: []engine.Fingerprint{{probe}}}, engine.Near(6), nil) {
		if err != nil {
			return 0, err
		}
		if d, ok := near[m.ID]; !ok || d != m.Distance {
			return 0, fmt.Errorf("NEAR finds %s at distance %d, which has %d (%v)", m.ID, m.Distance, d, ok)
		}
		delete(near, m.ID)
	}
	if len(near) > 0 {
		return 0, fmt.Errorf("NEAR does not find %v", near)
	}
	return check(got, acked)
}
