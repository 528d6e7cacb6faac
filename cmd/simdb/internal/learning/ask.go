package learning

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/worddiff"
)

// ask asks about up to n pairs, and appends each answer at once to the file of labels.
func (c *Command) ask(a *app.App, corpus *learn.Corpus, path string, labels []learn.Label, n int) (_ []learn.Label, err error) {
	f, err := app.OpenToAppend(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return interview(corpus, labels, n, os.Stdin, a.Err, func(l learn.Label) error {
		line, err := json.Marshal(l)
		if err == nil {
			_, err = f.Write(append(line, '\n'))
		}
		return err
	})
}

// interview asks about up to n pairs, and calls answered for each answer but a skip. It returns all
// labels.
func interview(corpus *learn.Corpus, labels []learn.Label, n int, in io.Reader, out io.Writer, answered func(learn.Label) error) ([]learn.Label, error) {
	lines := bufio.NewScanner(in)
	var skipped []learn.Label
	for i := range n {
		p, ok, err := corpus.Ask(labels, skipped)
		if err != nil {
			return nil, err
		}
		if !ok {
			fmt.Fprintln(out, "There are no more pairs to ask about.")
			return labels, nil
		}
		fmt.Fprintf(out, "\n%d of %d: %s and %s\n", i+1, n, app.OneLine(p.A), app.OneLine(p.B))
		for _, line := range Difference(p) {
			fmt.Fprintf(out, "    %s\n", app.OneLine(line))
		}
		answer := ""
		for answer == "" {
			fmt.Fprint(out, "Are they the same? y(es), n(o), s(kip), q(uit): ")
			if !lines.Scan() {
				return labels, lines.Err()
			}
			answer = strings.ToLower(strings.TrimSpace(lines.Text()))
			if !strings.Contains(" y yes n no s skip q quit ", " "+answer+" ") {
				answer = ""
			}
		}
		l := learn.Label{A: p.A, B: p.B, Same: answer[0] == 'y'}
		switch answer[0] {
		case 'q':
			return labels, nil
		case 's':
			skipped = append(skipped, l)
			continue
		}
		if err := answered(l); err != nil {
			return nil, err
		}
		labels = append(labels, l)
	}
	return labels, nil
}

// shownBytes is the length up to which texts are shown whole.
const shownBytes = 400

// Difference returns lines that show two texts and where they differ: words that only the first has as
// [-word-], those that only the second has as {+word+}.
func Difference(p learn.Pair) (lines []string) {
	if max(len(p.TextA), len(p.TextB)) <= shownBytes {
		lines = append(lines, "a: "+p.TextA, "b: "+p.TextB)
	}
	var of features.Spec
	for _, d := range worddiff.Differences(of.Words(p.TextA), of.Words(p.TextB)) {
		lines = append(lines, d.Text)
	}
	return lines
}
