package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/inputs"
)

// Fail reports the error that ends the program and returns the exit status.
func (a *App) Fail(err error) int {
	if s, ok := errors.AsType[Status](err); ok {
		return int(s)
	}
	if errors.Is(err, inputs.ErrRejected) { // the rejected records have been reported
		return ExitError
	}
	if a.Interrupted() {
		switch {
		case errors.Is(err, context.Canceled):
			fmt.Fprintln(a.Err, "simdb: interrupted")
		case !errors.Is(err, ErrInterrupted):
			a.Complain(err)
		}
		return ExitInterrupt
	}
	if ReaderGone(err) {
		return ExitOK // the reader of standard output has exited
	}
	a.Complain(err)
	hint := hintFor(err)
	if a.Advice != nil {
		hint = cmp.Or(a.Advice(err), hint)
	}
	if hint != "" {
		fmt.Fprintf(a.Err, "  %s\n", OneLine(hint))
	}
	return ExitError
}

// Complain prints an error; each of several joined errors has its own line.
func (a *App) Complain(err error) {
	var lines func(error) []string
	lines = func(err error) []string {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			return []string{OneLine(err.Error())}
		}
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, lines(e)...)
		}
		if len(all) != strings.Count(err.Error(), "\n")+1 { // it adds text of its own
			return []string{OneLine(err.Error())}
		}
		return all
	}
	said := lines(err)
	for i, line := range said {
		if slices.ContainsFunc(said[:i], func(s string) bool { return strings.HasSuffix(s, line) }) {
			continue // closing repeats the error of the write
		}
		if i == 0 {
			line = "simdb: " + line
		}
		fmt.Fprintln(a.Err, a.broken(line))
	}
}

// OnDamage is the hint for users of a damaged database.
const OnDamage = "simdb repair DB rebuilds damaged tables, simdb recover DB NEW makes a new database from what can be read"

// hintFor returns a hint for the user who gets an error, or "".
func hintFor(err error) string {
	switch {
	case errors.Is(err, engine.ErrCorruption):
		return "simdb check DB lists all damage; " + OnDamage
	case errors.Is(err, engine.ErrLocked):
		return "another process has it for itself, or is busy; --busy-timeout sets how long to wait"
	case errors.Is(err, engine.ErrExpired):
		return "--since 0 lists all documents: apply them to an empty map"
	case errors.Is(err, inputs.ErrNoDatabase):
		return "simdb load DB FILE... creates a database, simdb create DB an empty one"
	case errors.Is(err, engine.ErrParams):
		return "the parameters of a database are fixed when it is created; simdb stats DB shows them, simdb rebuild DB NEW makes a copy with others"
	case errors.Is(err, engine.ErrNotDatabase):
		return "a database is a folder created by simdb load, or one .sst file"
	case errors.Is(err, engine.ErrNotFound):
		return `simdb DB "SHOW id LIMIT 5" shows some ids`
	case errors.Is(err, fs.ErrNotExist):
		return "ls DIR lists the files of a folder; the file - is standard input, -o FILE the output"
	}
	return ""
}

// Difference says in which words a document differs from another one: "have one more word: sequela".
func Difference(lacks, adds string) string {
	words := func(one, several, text string) string {
		if strings.Contains(text, " ") {
			one = several
		}
		return one + ": " + text
	}
	switch {
	case lacks == "":
		return "have " + words("one more word", "more words", adds)
	case adds == "":
		return "lack " + words("one word", "words", lacks)
	}
	return fmt.Sprintf("have %s instead of %s", adds, lacks)
}
