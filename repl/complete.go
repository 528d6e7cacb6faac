package repl

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/admin"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/printable"
	"github.com/simdb/simdb/repl/output"
)

const (
	maxCompletions = 50
	completionTime = 300 * time.Millisecond // limit for the search for ids
)

// complete is called for Tab. The user has typed line, and pos of its runes are before the cursor.
// At the start of a line it completes dot-commands and their arguments, within quotes ids, and
// elsewhere fields and keywords.
func (s *session) complete(line string, pos int) (head string, completions []string, tail string) {
	runes := []rune(line)
	before, tail := string(runes[:pos]), string(runes[pos:])
	switch {
	case isDot(before) || before == ".":
		head, completions = s.completeDot(before)
	case openQuote(before) >= 0:
		at := openQuote(before) + 1
		head, completions = before[:at], s.completeID(strings.ReplaceAll(before[at:], "''", "'"))
	default:
		at := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' }) + 1
		head, completions = before[:at], append(s.completeField(before[at:], before[:at]), completeKeyword(before[at:])...)
	}
	return head, completions, tail
}

// openQuote returns the offset of the quote that opens the string at the end of before, or -1 if
// before does not end within a string.
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

// completeKeyword returns the keywords that start with word, in the case of word.
func completeKeyword(word string) []string {
	if word == "" {
		return nil
	}
	var found []string
	for _, k := range front.Language.Keywords {
		if strings.HasPrefix(k, strings.ToUpper(word)) {
			if strings.ToLower(word) == word {
				k = strings.ToLower(k)
			}
			found = append(found, k)
		}
	}
	return found
}

// fieldsFollow are the words after which a field is likely.
var fieldsFollow = []string{"SHOW", ",", "AND", "OR", "NOT", "WHERE", "COUNT", "BY"}

// completeField returns the fields that start with word, or all fields if one is likely to follow.
func (s *session) completeField(word, before string) []string {
	words := strings.Fields(strings.ToUpper(before))
	if word == "" && (len(words) == 0 || !slices.Contains(fieldsFollow, words[len(words)-1]) && !strings.HasSuffix(words[len(words)-1], ",")) {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, completionTime)
	defer cancel()
	names, _, _ := admin.FieldNames(ctx, s.cfg.DB)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, word) })
}

// completeID returns the ids that start with prefix, each with a closing quote. It leaves out ids
// that a user cannot type.
func (s *session) completeID(prefix string) []string {
	ctx, cancel := context.WithTimeout(s.ctx, completionTime)
	defer cancel()
	snap, err := s.cfg.DB.Snapshot()
	if err != nil {
		return nil
	}
	defer snap.Close()
	var found []string
	for e, err := range snap.Range(ctx, engine.Range{Prefix: prefix, Limit: maxCompletions, OnlyIDs: true}) {
		if err != nil || len(found) == maxCompletions {
			break
		}
		if id := e.ID; utf8.ValidString(id) && printable.Text(id) == id {
			found = append(found, strings.ReplaceAll(id, "'", "''")+"'")
		}
	}
	return found
}

// completeDot completes a dot-command, or its argument.
func (s *session) completeDot(before string) (head string, completions []string) {
	at := strings.LastIndexAny(before, " \t") + 1
	word := before[at:]
	var words []string
	switch name, _, hasArgument := strings.Cut(strings.TrimLeft(before, " \t"), " "); {
	case !hasArgument:
		for _, c := range s.commands {
			words = append(words, "."+c.name)
		}
	case name == ".mode":
		words = output.Formats()
	case name == ".timer" || name == ".explain" || name == ".stats":
		words = []string{"on", "off"}
	case name == ".help":
		words = helpTopics()
	case name == ".read" || name == ".output" || name == ".once" || name == ".import":
		return before[:at], completeFile(word)
	}
	return before[:at], slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) })
}

// completeFile returns the files that start with word; directories end in a slash.
func completeFile(word string) []string {
	dir, start := filepath.Split(word)
	in := cmp.Or(dir, ".")
	list, err := os.ReadDir(in)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), start) || start == "" && strings.HasPrefix(e.Name(), ".") || strings.ContainsAny(e.Name(), " \t") || printable.Text(e.Name()) != e.Name() {
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
