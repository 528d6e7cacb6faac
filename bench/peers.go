package main

import (
	"bufio"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/simdb/simdb/internal/token"
)

// peerScripts remove near-duplicates with other programs, all in the same way: see common.py.
//
//go:embed peers/*.py
var peerScripts embed.FS

// peers are the programs that `dedup` compares, each with a script; the first is simdb itself.
// README.md describes them.
var peers = []string{"simdb", "simdb_python", "duckdb", "gaoya", "rensa", "datasketch", "text_dedup", "datatrove"}

// dedupFlags are the flags of `dedup`.
type dedupFlags struct {
	files  []string
	t      float64
	python string // with the peers installed; "" runs only simdb
	simdb  string // the program; "" builds it
	only   string
	limit  time.Duration
}

// runDedup makes every peer remove the near-duplicates of each file, and compares the kept texts
// with the exact similarities of all pairs. Texts are first reduced to lower-case words separated
// by single spaces, so that all peers have the same shingles.
func runDedup(f dedupFlags) error {
	if len(f.files) == 0 {
		return errors.New("dedup needs files of JSON lines with a text: bench dedup FILE.jsonl...")
	}
	var err error
	if f.simdb != "" {
		if f.simdb, err = filepath.Abs(f.simdb); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if f.simdb == "" {
		f.simdb = filepath.Join(dir, "simdb")
		if err := buildSimdb(f.simdb); err != nil {
			return err
		}
	}
	scripts, err := peerScripts.ReadDir("peers")
	if err != nil {
		return err
	}
	for _, s := range scripts {
		text, err := peerScripts.ReadFile("peers/" + s.Name())
		if err != nil {
			return err
		}
		// A module must not have the name of the package that it imports.
		name := s.Name()
		if name != "common.py" {
			name = "run_" + name
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	for _, path := range f.files {
		if err := dedupFile(f, dir, path); err != nil {
			return err
		}
	}
	return nil
}

// buildSimdb builds the program. Bench runs in its own folder, inside simdb's.
func buildSimdb(path string) error {
	c := exec.Command("go", "build", "-o", path, "./cmd/simdb")
	c.Dir = ".."
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// dedupFile compares the peers on one file.
func dedupFile(f dedupFlags, dir, path string) error {
	texts, err := readTexts(path)
	if err != nil {
		return err
	}
	in := filepath.Join(dir, "in.jsonl")
	size, err := writeTexts(in, texts)
	if err != nil {
		return err
	}
	truth := similarPairs(texts, f.t)
	pairs := 0
	for _, like := range truth {
		pairs += len(like)
	}
	fmt.Printf("%s: %d documents, %.1f MB, %d pairs of %g and more:\n\n", filepath.Base(path), len(texts), float64(size)/1e6, pairs/2, f.t)
	out := newTable(os.Stdout, "", "removed", "wrong", "pairs left", "CPU s", "wall s", "MB")
	for _, p := range peers {
		if p != "simdb" && f.python == "" || f.only != "" && !slices.Contains(strings.Split(f.only, ","), p) {
			continue
		}
		run, err := runPeer(f, dir, in, p)
		if err != nil {
			fmt.Printf("%s: %v\n", p, err)
			continue
		}
		wrong, left := judge(truth, run.kept)
		out.add(p, strconv.Itoa(len(texts)-run.count), strconv.Itoa(wrong), strconv.Itoa(left),
			fmt.Sprintf("%.2f", run.cpu.Seconds()), fmt.Sprintf("%.2f", run.wall.Seconds()), fmt.Sprintf("%.0f", float64(run.memory)/1e6))
	}
	fmt.Println()
	return errors.Join(out.print(), func() error { _, err := fmt.Println(); return err }())
}

// readTexts reads the texts of a file of JSON lines, gzip or not, as words separated by spaces.
// It omits texts without words: programs differ on whether these are similar.
func readTexts(path string) (texts []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	for d := json.NewDecoder(r); ; {
		var doc struct{ Text string }
		if err := d.Decode(&doc); err == io.EOF {
			return texts, nil
		} else if err != nil {
			return nil, err
		}
		if words := slices.Collect(token.Rules{}.Split(doc.Text)); len(words) > 0 {
			texts = append(texts, strings.Join(words, " "))
		}
	}
}

// writeTexts writes numbered texts as JSON lines, and returns the size of the file.
func writeTexts(path string, texts []string) (int64, error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriter(file)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for n, text := range texts {
		err = errors.Join(err, e.Encode(struct {
			ID   int    `json:"id"`
			Text string `json:"text"`
		}{n, text}))
	}
	err = errors.Join(err, w.Flush())
	info, statErr := file.Stat()
	if err = errors.Join(err, statErr, file.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// similarPairs returns, for each text, the others with a similarity of at least t.
func similarPairs(texts []string, t float64) [][]uint32 {
	of := newShingleSets()
	sets := make([][]uint64, len(texts))
	for i, text := range texts {
		sets[i] = of.of(text)
	}
	x := newInverted(sets)
	pairs := make([][]uint32, len(texts))
	for i, s := range sets {
		pairs[i] = slices.DeleteFunc(x.atLeast(s, t), func(j uint32) bool { return j == uint32(i) })
	}
	return pairs
}

// judge returns how many texts were removed although they resemble no kept text, and how many
// pairs of kept texts are similar.
func judge(truth [][]uint32, kept []bool) (wrong, left int) {
	for i, like := range truth {
		n := 0
		for _, j := range like {
			if kept[j] {
				n++
			}
		}
		switch {
		case !kept[i] && n == 0:
			wrong++
		case kept[i]:
			left += n
		}
	}
	return wrong, left / 2
}

// peerRun is the cost of a peer's run, and the texts that it has kept.
type peerRun struct {
	kept      []bool
	count     int
	cpu, wall time.Duration
	memory    int64
}

// runPeer runs a peer on one processor.
func runPeer(f dedupFlags, dir, in, name string) (*peerRun, error) {
	out := filepath.Join(dir, "kept")
	os.Remove(out)
	os.Remove(out + ".memory")
	c := exec.Command(f.python, filepath.Join(dir, "run_"+name+".py"), in, out, fmt.Sprint(f.t))
	if name == "simdb" {
		c = exec.Command(f.simdb, "dedup", in, "--jaccard", fmt.Sprint(f.t), "-o", out+".jsonl", "-q")
	}
	c.Dir = dir
	c.Env = append(os.Environ(), "GOMAXPROCS=1", "OMP_NUM_THREADS=1", "RAYON_NUM_THREADS=1", "TOKENIZERS_PARALLELISM=false", "PYTHONDONTWRITEBYTECODE=1")
	var said strings.Builder
	c.Stderr = &said
	start := time.Now()
	if err := c.Start(); err != nil {
		return nil, err
	}
	tooLong := time.AfterFunc(f.limit, func() { c.Process.Kill() })
	memory := watchMemory(c.Process.Pid)
	err := c.Wait()
	run := &peerRun{wall: time.Since(start), memory: memory()}
	if !tooLong.Stop() {
		return nil, fmt.Errorf("more than %s", f.limit)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(strings.Join(lines[max(0, len(lines)-3):], " ")))
	}
	if said, err := os.ReadFile(out + ".memory"); err == nil { // written by a script at its end
		fmt.Sscan(string(said), &run.memory)
	}
	run.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return run, run.read(in, out, name)
}

// watchMemory watches a process until the returned function is called, which returns the peak
// memory of the process in bytes; 0 without /proc. The figure of wait4 is no use, as it starts
// with the memory of the parent process.
func watchMemory(pid int) func() int64 {
	end, most := make(chan struct{}), make(chan int64)
	go func() {
		var n int64
		for {
			n = max(n, memoryOf(pid))
			select {
			case <-end:
				most <- n
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(end)
		return <-most
	}
}

// memoryOf returns the peak memory of a process so far.
func memoryOf(pid int) (n int64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
		fmt.Sscan(after, &n)
	}
	return n << 10
}

// read reads the list of kept texts.
func (r *peerRun) read(in, out, name string) error {
	texts, err := readTexts(in)
	if err != nil {
		return err
	}
	r.kept = make([]bool, len(texts))
	keep := func(n int) error {
		if n < 0 || n >= len(r.kept) || r.kept[n] {
			return fmt.Errorf("%s keeps document %d, which does not exist, or keeps it twice", name, n)
		}
		r.kept[n] = true
		r.count++
		return nil
	}
	if name == "simdb" {
		out += ".jsonl"
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		var doc struct{ ID int }
		if name == "simdb" {
			err = json.Unmarshal([]byte(line), &doc)
		} else {
			doc.ID, err = strconv.Atoi(strings.TrimSpace(line))
		}
		if err == nil {
			err = keep(doc.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
