// Command unique prints the lines of its input, except for lines that are nearly equal to an
// earlier one.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(in io.Reader, out io.Writer) error {
	var lines []string
	input := bufio.NewScanner(in)
	for input.Scan() {
		lines = append(lines, input.Text())
	}
	dropped := map[int]bool{}
	similar := dedup.Texts(slices.Values(lines), nil).Clusters(context.Background(), engine.Levenshtein(0.8), false)
	for cluster, err := range similar {
		if err != nil {
			return err
		}
		for _, m := range cluster[1:] { // the first one is kept
			dropped[m.Item] = true
		}
	}
	for n, line := range lines {
		if !dropped[n] {
			fmt.Fprintln(out, line)
		}
	}
	return input.Err()
}
