package learning

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/worddiff"
)

// ask asks about up to n pairs, and appends each answer at once to the file of labels. A new file without
// answers does not stay.
func (c *Command) ask(a *app.App, corpus *learn.Corpus, path string, labels []learn.Label, n int) (_ []learn.Label, err error) {
	_, missing := os.Stat(path)
	f, err := app.OpenToAppend(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if errors.Is(missing, fs.ErrNotExist) {
			app.RemoveEmpty(f)
		}
		err = errors.Join(err, f.Close())
	}()
	had := len(labels)
	labels, err = interview(a.Context(), corpus, labels, n, os.Stdin, a.Err, f)
	if given := len(labels) - had; given > 0 {
		a.Say("%s in %s: the same command with --ask N goes on", quantity.Count(int64(given), "new answer"), path)
	}
	return labels, err
}

// interview asks about up to n pairs, and appends each answer but a skip to a file. Back takes the last
// answer of this interview out of the file, and asks again, unless another process has appended to the
// file. It returns all labels, also those before an interruption.
func interview(ctx context.Context, corpus *learn.Corpus, labels []learn.Label, n int, in io.Reader, out io.Writer, to *os.File) ([]learn.Label, error) {
	lines, failed := linesOf(in)
	var given [][2]int64 // by answer: the sizes of the file before and after it
	var skipped []learn.Label
	for len(given)+len(skipped) < n {
		p, ok, err := corpus.Ask(labels, skipped)
		if err != nil {
			return labels, err
		}
		if !ok {
			fmt.Fprintln(out, "There are no more pairs to ask about.")
			return labels, nil
		}
		fmt.Fprintf(out, "\n%d of %d: %s and %s\n", len(given)+len(skipped)+1, n, app.OneLine(p.A), app.OneLine(p.B))
		for _, line := range Difference(p) {
			fmt.Fprintf(out, "    %s\n", app.OneLine(line))
		}
		answer, err := answerOf(ctx, lines, out)
		if err != nil || answer == 0 {
			return labels, errors.Join(err, *failed)
		}
		l := learn.Label{A: p.A, B: p.B, Same: answer == 'y'}
		switch answer {
		case 'q':
			return labels, nil
		case 's':
			skipped = append(skipped, l)
			continue
		case 'b':
			if len(given) == 0 {
				fmt.Fprintln(out, "There is no answer to take back.")
				continue
			}
			last := given[len(given)-1]
			ok, err := app.TakeBack(to, last[0], last[1])
			if err != nil {
				return labels, err
			}
			if !ok {
				fmt.Fprintf(out, "Another program has appended to %s: the answer stays.\n", app.OneLine(to.Name()))
				continue
			}
			given, labels = given[:len(given)-1], labels[:len(labels)-1]
			continue
		}
		line, err := json.Marshal(l)
		if err != nil {
			return labels, err
		}
		before, after, err := app.AppendLine(to, append(line, '\n'))
		if err != nil {
			return labels, err
		}
		given, labels = append(given, [2]int64{before, after}), append(labels, l)
	}
	return labels, nil
}

// linesOf reads lines until the input ends, so that a question need not wait for one that never comes.
// After the end failed points to the error, if any.
func linesOf(in io.Reader) (lines <-chan string, failed *error) {
	read, failed := make(chan string), new(error)
	go func() {
		defer close(read)
		s := bufio.NewScanner(in)
		for s.Scan() {
			read <- s.Text()
		}
		*failed = s.Err()
	}()
	return read, failed
}

// answerOf returns the letter of an answer, 0 at the end of the input.
func answerOf(ctx context.Context, lines <-chan string, out io.Writer) (letter byte, err error) {
	for {
		fmt.Fprint(out, "Are they the same? y(es), n(o), s(kip), b(ack), q(uit): ")
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case line, more := <-lines:
			if !more {
				fmt.Fprintln(out)
				return 0, nil
			}
			answer := strings.ToLower(strings.TrimSpace(line))
			if answer != "" && strings.Contains(" y yes n no s skip b back q quit ", " "+answer+" ") {
				return answer[0], nil
			}
		}
	}
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
	runs := worddiff.Differences(of.Words(p.TextA), of.Words(p.TextB))
	if len(runs) == 1 { // their number, or why they are not shown
		return append(lines, runs[0].Name+": "+runs[0].Text)
	}
	for _, d := range runs[1:] {
		lines = append(lines, d.Text)
	}
	if shown := fmt.Sprint(len(runs) - 1); shown != runs[0].Text {
		lines = append(lines, fmt.Sprintf("(%s of %s differences)", shown, runs[0].Text))
	}
	return lines
}
