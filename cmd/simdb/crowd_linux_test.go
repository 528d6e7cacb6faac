package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/exhaustive"
)

// crowds are sets of very similar documents, by name: their number with SIMDB_ALL=1, and a function
// that makes a line.
var crowds = []struct {
	name string
	docs int
	line func(r *rand.Rand, i, n int) string
}{
	{"equal", 200_000, func(*rand.Rand, int, int) string { return text(common(60)) }},
	{"template", 100_000, func(r *rand.Rand, _, _ int) string { return text(common(70) + random(r, 30)) }},
	{"cut", 50_000, func(r *rand.Rand, _, _ int) string { return text(common(88) + random(r, 12)) }},
	{"five", 300_000, func(r *rand.Rand, _, _ int) string { return text(common(7) + random(r, 30)) }},
	{"ids", 50_000, func(r *rand.Rand, i, n int) string {
		words := "a b c d e f"
		if i > n/3*2 {
			words = random(r, 20)
		}
		return fmt.Sprintf(`"id":"%s%d","text":"%s"`, strings.Repeat("x", 2000), i, words)
	}},
	{"word", 300_000, func(*rand.Rand, int, int) string { return text("word") }},
	{"empty", 300_000, func(*rand.Rand, int, int) string { return text("") }},
	// Each has 1 to 3 of 100 words changed: similarities are around 0.8, some above, some below.
	{"family", 100_000, func(r *rand.Rand, _, _ int) string {
		words := strings.Fields(common(100))
		for range 1 + r.IntN(3) {
			words[r.IntN(len(words))] = strings.TrimSpace(random(r, 1))
		}
		return text(strings.Join(words, " "))
	}},
	// Each has 12 to 30 words of its own beside 80 common words. The others contain 0.73 to 0.87 of
	// it.
	{"sides", 100_000, func(r *rand.Rand, _, _ int) string { return text(common(80) + random(r, 12+r.IntN(19))) }},
	// Texts of 5.8 MB, with similarities of 0.85. If there are fewer, they are shorter, because
	// --memory is smaller, too.
	{"big", 50, func(r *rand.Rand, _, n int) string {
		size := 640_000
		if n < 50 {
			size /= 4
		}
		return text(common(size*92/100) + random(r, size*8/100))
	}},
	{"blocks", 100_000, crowd("blocks")},
	{"stretches", 20_000, crowd("stretches")},
	{"few", 20_000, crowd("few")},
	{"letters", 100_000, crowd("letters")},
	{"header", 20_000, crowd("header")},
	{"contained", 100_000, crowd("contained")},
	{"chain", 100_000, crowd("chain")},
	{"fingerprint", 1_000_000, func(*rand.Rand, int, int) string { return `"fingerprint":"0x9f3c5a0011223344"` }},
	{"ball", 200_000, func(r *rand.Rand, _, _ int) string {
		return fmt.Sprintf(`"fingerprint":"0x%016x"`, uint64(1)<<r.IntN(64)^1<<r.IntN(64)^1<<r.IntN(64))
	}},
	{"cube", 300_000, func(r *rand.Rand, _, _ int) string {
		return fmt.Sprintf(`"fingerprint":"0x%016x"`, r.IntN(1<<20)*0x801)
	}},
}

func crowd(name string) func(r *rand.Rand, i, n int) string {
	return func(r *rand.Rand, i, n int) string { return text(strings.Join(corpora.Crowds[name](r, i, n), " ")) }
}

func text(words string) string { return fmt.Sprintf(`"text":"%s"`, words) }

func common(n int) string {
	var words strings.Builder
	for i := range n {
		fmt.Fprintf(&words, "w%d ", i)
	}
	return words.String()
}

func random(r *rand.Rand, n int) string {
	var words strings.Builder
	for range n {
		fmt.Fprintf(&words, "%x ", r.Uint32())
	}
	return words.String()
}

// crowdJobs are the commands for fingerprints (true) or for texts (false).
var crowdJobs = map[bool][]string{
	false: {
		"load x.simdb in", "dedup in -o out.jsonl", "pairs in --jaccard 0.8 --format count", "clusters in --jaccard 0.8 --format count",
		"clusters in --jaccard 0.8 --mode components --format count", "pairs x.simdb --jaccard 0.8 --format count",
		"clusters x.simdb --jaccard 0.8 --format count", "clusters x.simdb --jaccard 0.8 --mode components --format count",
		"match x.simdb few --jaccard 0.8 --explain --format tsv -o out.tsv", "join x.simdb few --near 6 --format count",
		"load y.simdb few", "match y.simdb in --jaccard 0.8 --add -o new.jsonl",
		"dedup in --near 6 --verify 0.7 -o verified.jsonl", "dedup in --cosine 0.9 -o cosine.jsonl",
		"clusters in --cosine 0.9 --mode components --format count", "match z.simdb in --contains 0.8 --add -o new.jsonl",
		"dedup in --within 0.8 -o within.jsonl", "clusters in --contains 0.8 --mode components --format count",
		"match x.simdb in --contains 0.8 -o match.jsonl", "match x.simdb few --within 0.8 --explain --format tsv -o out.tsv",
		"join x.simdb few --contains 0.8 --format count", "join in few --within 0.8 --format count",
		"dedup in --level passage --min-words 20 -o cut.jsonl", "dedup in --level passage --against few -o clean.jsonl",
	},
	true: {
		"load x.simdb in", "dedup in --near 6 -o out.jsonl", "pairs in --near 0 --format count", "clusters in --near 6 --format count",
		"clusters x.simdb --near 6 --format count", "clusters x.simdb --near 6 --mode components --format count",
		"match x.simdb few --near 6 --explain --format tsv -o out.tsv", "join x.simdb few --near 3 --format count",
	},
}

// TestCrowds runs commands on crowds: they must end soon, and respect --memory.
func TestCrowds(t *testing.T) {
	share, memory, seconds := exhaustive.Size(50, 1), exhaustive.Size(64, 256), exhaustive.Size(20.0, 60)
	for i := range exhaustive.Some(t, 5, len(crowds)) {
		c := crowds[i]
		t.Run(c.name, func(t *testing.T) {
			dir, r, n := t.TempDir(), rand.New(rand.NewPCG(1, 2)), max(c.docs/share, 8)
			var lines strings.Builder
			few := 0 // bytes of a few lines
			for i := range n {
				line := c.line(r, i, n)
				if !strings.Contains(line, `"id"`) {
					line = fmt.Sprintf(`"id":"d%d",`, i) + line
				}
				fmt.Fprintf(&lines, "{%s}\n", line)
				if i == min(200, n/4) {
					few = lines.Len()
				}
			}
			write(t, filepath.Join(dir, "in.jsonl"), lines.String())
			write(t, filepath.Join(dir, "few.jsonl"), lines.String()[:few])
			for _, job := range crowdJobs[strings.Contains(c.line(r, 0, n), "fingerprint")] {
				if strings.Contains("family blocks letters", c.name) && strings.HasPrefix(job, "pairs") {
					continue // the answer would be a large share of all pairs, and no two texts are equal
				}
				args := strings.Fields(strings.NewReplacer(" in", " in.jsonl", " few", " few.jsonl").Replace(job))
				cpu, anon := runMeasured(t, dir, append(args, "--memory", fmt.Sprintf("%dMiB", memory), "-q"))
				if most := mostMemory(job, memory); anon > most || cpu > seconds {
					t.Errorf("simdb %s: %.1f s, %d MiB, at most %d", job, cpu, anon, most)
				}
			}
		})
	}
}

// mostMemory returns how many MiB of anonymous memory a command may use.
func mostMemory(job string, memory int) int {
	if strings.HasPrefix(job, "load ") {
		return memory*17/16 + 96 // the limit of the garbage collector
	}
	return memory*13/10 + 64
}

// TestLongIDs runs commands on documents whose IDs are five times the size of --memory.
func TestLongIDs(t *testing.T) {
	const docs, length, memory = 8000, 20_000, 32
	dir, r := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	var lines strings.Builder
	for i := range docs {
		fmt.Fprintf(&lines, `{"id":"%d%s",%s}`+"\n", i, strings.Repeat("x", length), text(random(r, 8)))
	}
	write(t, filepath.Join(dir, "in.jsonl"), lines.String())
	for _, job := range []string{
		"tune in.jsonl", "load x.simdb in.jsonl", "load c.simdb in.jsonl --containment", "pairs in.jsonl --near 3 --format count",
		"clusters in.jsonl --near 3 --format count", "dedup in.jsonl -o out.jsonl",
	} {
		_, anon := runMeasured(t, dir, append(strings.Fields(job), "--memory", fmt.Sprintf("%dMiB", memory), "-q"))
		if most := mostMemory(job, memory); anon > most {
			t.Errorf("simdb %s: %d MiB, at most %d", job, anon, most)
		}
	}
}

// runMeasured runs simdb. It returns the processor time in seconds and the anonymous memory in MiB.
// The exit status must be 0, or 1 for nothing found.
func runMeasured(t *testing.T, dir string, args []string) (cpu float64, anon int) {
	t.Helper()
	cmd := exec.Command("simdb", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	var errors strings.Builder
	cmd.Stderr = &errors
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		select {
		case <-ended:
			tick.Stop()
			if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 || code == 1 && errors.Len() > 0 {
				t.Errorf("simdb %s: status %d: %s", strings.Join(args, " "), code, errors.String())
			}
			return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), anon
		default:
		}
		anon = max(anon, rssAnon(cmd.Process.Pid))
	}
}

// rssAnon returns the anonymous memory of a process in MiB, or 0 if it has ended.
func rssAnon(pid int) (mib int) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if n, ok := strings.CutPrefix(s.Text(), "RssAnon:"); ok {
			fmt.Sscan(n, &mib)
		}
	}
	return mib / 1024
}
