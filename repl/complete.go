package repl

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl/output"
)

const (
	maxCompletions = 50
	completionTime = 300 * time.Millisecond // a person waits no longer for ids
)

// complete is what Tab does: line is typed so far, pos runes of it before the cursor. It completes dot-commands and
// their arguments at the start of a line, ids within quotes, and keywords elsewhere.
func (s *session) complete(line string, pos int) (head string, completions []string, tail string) {
	runes := []rune(line)
	before, tail := string(runes[:pos]), string(runes[pos:])
	switch {
	case isDot(before) || before == ".":
		head, completions = completeDot(before)
	case openQuote(before) >= 0:
		at := openQuote(before) + 1
		head, completions = before[:at], s.completeID(strings.ReplaceAll(before[at:], "''", "'"))
	default:
		at := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) }) + 1
		head, completions = before[:at], completeKeyword(before[at:])
	}
	return head, completions, tail
}

// openQuote returns where the string starts that before ends in, -1 if it ends in none.
func openQuote(before string) int {
	open := -1
	for i := 0; i < len(before); i++ {
		switch {
		case before[i] != '\'':
		case open < 0:
			open = i
		case i+1 < len(before) && before[i+1] == '\'':
			i++
		default:
			open = -1
		}
	}
	return open
}

// completeKeyword returns the keywords that start with word, in the case that it is written in.
func completeKeyword(word string) []string {
	if word == "" {
		return nil
	}
	var found []string
	for _, k := range query.Keywords() {
		if strings.HasPrefix(k, strings.ToUpper(word)) {
			if strings.ToLower(word) == word {
				k = strings.ToLower(k)
			}
			found = append(found, k)
		}
	}
	return found
}

// completeID returns ids that start with prefix, each closed by a quote. Ids that can't be typed are left out.
func (s *session) completeID(prefix string) []string {
	ctx, cancel := context.WithTimeout(s.ctx, completionTime)
	defer cancel()
	snap, err := s.cfg.DB.Snapshot()
	if err != nil {
		return nil
	}
	defer snap.Close()
	var found []string
	for e, err := range snap.Entries(ctx, prefix) {
		if err != nil || len(found) == maxCompletions {
			break
		}
		if utf8.ValidString(e.ID) && output.Printable(e.ID) == e.ID {
			found = append(found, strings.ReplaceAll(e.ID, "'", "''")+"'")
		}
	}
	return found
}

// completeDot completes a dot-command, or its argument.
func completeDot(before string) (head string, completions []string) {
	at := strings.LastIndexAny(before, " \t") + 1
	word := before[at:]
	var words []string
	switch name, _, hasArgument := strings.Cut(strings.TrimLeft(before, " \t"), " "); {
	case !hasArgument:
		for _, c := range dotCommands {
			words = append(words, "."+c.name)
		}
	case name == ".mode":
		words = output.Formats()
	case name == ".timer" || name == ".explain" || name == ".stats":
		words = []string{"on", "off"}
	case name == ".help":
		words = helpTopics()
	case name == ".read" || name == ".output":
		return before[:at], completeFile(word)
	}
	return before[:at], slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) })
}

// completeFile returns the files that start with word, folders with a slash behind.
func completeFile(word string) []string {
	dir, start := filepath.Split(word)
	in := dir
	if in == "" {
		in = "."
	}
	list, err := os.ReadDir(in)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), start) || start == "" && strings.HasPrefix(e.Name(), ".") || strings.ContainsAny(e.Name(), " \t") {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() {
			name += string(filepath.Separator)
		}
		if found = append(found, name); len(found) == maxCompletions {
			break
		}
	}
	return found
}
