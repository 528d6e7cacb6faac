// Command bench compares simdb with other ways to find near-duplicates, on the same data and in
// one run.
//
//	go run . near  -n 1000000 -k 3,6     the index: uncompressed permuted tables, a flat scan
//	go run . jaccard -n 100000 -t 0.8    texts by Jaccard similarity: LSH
//	go run . dedup -python VENV/bin/python FILE.jsonl...  the main job, and six other programs
//	go run . kv -n 300000 -size 60       the store: goleveldb, Pebble, bbolt, SQLite
//	go run . commands -n 1000000         whole commands of simdb: time and memory
//	go run . make -kind family -n 10000  no comparison: writes a file of documents for simdb
//
// It prints the tables of docs/performance.md, in Markdown.
//
// For stable figures pin it to one core: taskset -c 1 go run . near -n 10000000. Before a
// contestant is timed, its answers on a sample are compared with brute force, and a wrong answer
// ends the run.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

const usage = "usage: bench near|jaccard|dedup|kv|commands|make [flags]; bench near -h lists them"

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf(usage)
	}
	fs := flag.NewFlagSet(args[0], flag.ExitOnError)
	most := 1_000_000
	if args[0] == "kv" {
		most = 300_000
	}
	n := fs.Int("n", most, "fingerprints before copies; jaccard: texts; kv: documents; make: lines, but for those copies")
	ks := fs.String("k", "3", "distances, with commas between them")
	seed := fs.Uint64("seed", 42, "seed of the data")
	only := fs.String("only", "", "contestants to run, with commas between them; all by default")
	layout := fs.String("layout", "4:1", "simdb's permuted tables")
	queries := fs.Int("queries", 10_000, "near, jaccard, kv: number of queries")
	check := fs.Int("check", 20, "near: queries whose answers are compared with brute force")
	rounds := fs.Int("rounds", 3, "near, jaccard, kv: rounds over the queries; the best of each query counts, for kv the best round")
	limit := fs.Duration("limit", 5*time.Second, "near, jaccard, kv: time for the queries of one contestant, or for one kind of them; a slower contestant gets fewer queries")
	t := fs.Float64("t", 0.8, "jaccard, dedup: threshold")
	root := fs.String("root", runtime.GOROOT(), "jaccard: the folder to take text from")
	words := fs.Int("words", leastWords, "jaccard: minimum words per text")
	python := fs.String("python", "", "dedup: a Python with the other programs: pip install gaoya rensa datasketch duckdb text-dedup datatrove spacy; none: only simdb")
	program := fs.String("simdb", "", "dedup, commands: the program (default: it is built)")
	size := fs.Int("size", 60, "kv: bytes of a document")
	cache := fs.Int64("cache", 256, "kv: MiB of each contestant's cache of blocks")
	text := fs.Bool("text", false, "kv: simdb stores texts, with fingerprints and sketches, not only fields")
	kind := fs.String("kind", "texts", "make: code, equal, family, fps, pages, same or texts")
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	near := nearFlags{n: *n, queries: *queries, check: *check, rounds: max(*rounds, 1), seed: *seed, only: *only, layout: *layout, limit: *limit}
	for _, s := range strings.Split(*ks, ",") {
		k, err := strconv.Atoi(s)
		if err != nil || k < 0 || k > 63 {
			return fmt.Errorf("-k %s: not a list of distances from 0 to 63", *ks)
		}
		near.ks = append(near.ks, k)
	}
	if args[0] != "make" {
		fmt.Printf("%s\n\n", conditions(args))
	}
	switch args[0] {
	case "near":
		return runNear(near)
	case "jaccard":
		return runJaccard(jaccardFlags{nearFlags: near, t: *t, root: *root, words: *words})
	case "dedup":
		return runDedup(dedupFlags{files: fs.Args(), t: *t, python: *python, simdb: *program, only: *only, limit: *limit * 24})
	case "kv":
		return runKV(kvFlags{n: *n, size: *size, queries: *queries, rounds: near.rounds, text: *text, cache: *cache << 20, seed: *seed, only: *only, limit: *limit})
	case "commands":
		return runCommands(*program, *n, *seed)
	case "make":
		return runMake(os.Stdout, *kind, *n, *seed)
	default:
		return fmt.Errorf("%q is not a benchmark; %s", args[0], usage)
	}
}
