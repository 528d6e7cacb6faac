package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// latencies are the durations of single queries in ascending order.
type latencies []time.Duration

// percentile returns the least duration that p percent of the queries don't exceed.
func (l latencies) percentile(p int) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[(len(l)-1)*p/100]
}

// mean returns the average.
func (l latencies) mean() time.Duration {
	sum := time.Duration(0)
	for _, d := range l {
		sum += d
	}
	return sum / time.Duration(max(len(l), 1))
}

// measure runs queries 0..n-1 in several rounds and uses the least time of each, since other
// activity on the machine only adds time. The first round warms up, and reduces n to the number
// of queries that fit into a round's share of limit.
func measure(n, rounds int, limit time.Duration, ask func(query int) error) (latencies, error) {
	var best latencies
	for round := range rounds + 1 {
		runtime.GC()
		begin := time.Now()
		for q := 0; q < n; q++ {
			start := time.Now()
			if err := ask(q); err != nil {
				return nil, err
			}
			end := time.Now()
			switch took := end.Sub(start); {
			case round == 0 && end.Sub(begin) > limit/time.Duration(rounds+1):
				n = q + 1
			case round == 1:
				best = append(best, took)
			case round > 1:
				best[q] = min(best[q], took)
			}
		}
	}
	slices.Sort(best)
	return best, nil
}

// checkAnswers compares answers with the definition.
func checkAnswers(x index, fps, queries []uint64, k int) error {
	for _, q := range queries {
		got, err := answer(x, q, k)
		if err != nil {
			return err
		}
		if want := nearByDefinition(fps, q, k); !slices.Equal(got, want) {
			return fmt.Errorf("NEAR(%016x, %d) finds documents %v, brute force %v", q, k, got, want)
		}
	}
	return nil
}

// table is a table in Markdown, in the format of docs/performance.md.
type table struct {
	w    io.Writer
	rows [][]string
}

func newTable(w io.Writer, heads ...string) *table {
	return &table{w, [][]string{heads, slices.Repeat([]string{"---"}, len(heads))}}
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print() error {
	for _, r := range t.rows {
		if _, err := fmt.Fprintln(t.w, "| "+strings.Join(r, " | ")+" |"); err != nil {
			return err
		}
	}
	return nil
}

// conditions returns the line above a table: the command, the commit and the processor.
func conditions(args []string) string {
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	processor := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, ok := strings.Cut(string(info), "model name"); ok {
			processor, _, _ = strings.Cut(strings.Trim(after, "\t: "), "\n")
		}
	}
	return fmt.Sprintf("`go run . %s`, commit %s, %s.", strings.Join(args, " "), strings.TrimSpace(string(commit)), processor)
}

// microseconds formats d with three digits.
func microseconds(d time.Duration) string {
	switch us := float64(d.Nanoseconds()) / 1000; {
	case us < 10:
		return fmt.Sprintf("%.2f us", us)
	case us < 100:
		return fmt.Sprintf("%.1f us", us)
	default:
		return fmt.Sprintf("%.0f us", us)
	}
}
