package files

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// class is a class of characters at the beginning of a pattern, its negation and what is in it.
var class = regexp.MustCompile(`^\[([!^]?)((?:\\.|[^\]\\])+)\]`)

// compile returns what matches paths with slashes as a pattern does: * and ? are any characters and
// one of a name, [a-z] is one of a class and [!a-z] one of no class, \ makes a character a plain
// one, and a part ** is any number of folders. With braces {a,b} is a or b. A regular expression
// takes time in proportion to the path, however often a pattern could match.
func compile(pattern string, braces bool) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	var starts []bool // of the open braces: whether they begin a part
	start := true     // of a part
	for rest := pattern; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		begins := start
		switch start = r == '/'; {
		case begins && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			n, start = len("**/"), true
		case begins && rest == "**":
			b.WriteString(`.*`)
			n = len(rest)
		case len(starts) > 0 && (strings.HasPrefix(rest, "/**,") || strings.HasPrefix(rest, "/**}")):
			b.WriteString(`(?:/.*)?`)
			n, start = len("/**"), false
		case r == '*':
			b.WriteString(`[^/]*`)
		case r == '?':
			b.WriteString(`[^/]`)
		case r == '[':
			c := class.FindStringSubmatch(rest)
			if c == nil {
				return nil, errors.New("a bracket is not closed, or has nothing in it")
			}
			if b.WriteByte('['); c[1] != "" {
				b.WriteString("^/")
			}
			b.WriteString(strings.ReplaceAll(c[2], "[", `\[`) + "]")
			n = len(c[0])
		case r == '{' && braces:
			b.WriteString(`(?:`)
			starts, start = append(starts, begins), begins
		case r == ',' && len(starts) > 0:
			b.WriteString(`|`)
			start = starts[len(starts)-1]
		case r == '}' && len(starts) > 0:
			b.WriteString(`)`)
			starts = starts[:len(starts)-1]
		default:
			if r == '\\' {
				escaped, size := utf8.DecodeRuneInString(rest[1:])
				if size == 0 {
					return nil, errors.New("a backslash has nothing to escape")
				}
				r, n = escaped, 1+size
			}
			fmt.Fprintf(&b, `\x{%x}`, r)
		}
		rest = rest[n:]
	}
	if len(starts) > 0 {
		return nil, errors.New("a brace is not closed")
	}
	return regexp.Compile(b.String() + `)\z`)
}

// A walk finds the paths that match a pattern. It reads each folder once, and none that a part of
// the pattern before the first ** rules out. Symbolic links are not followed but at the beginning.
type walk struct {
	base    string
	whole   *regexp.Regexp
	self    *regexp.Regexp   // of a folder: without /** at the end, which it matches, too
	parts   []*regexp.Regexp // of the path of a folder, by its depth
	deeper  bool             // whether folders below those have to be read
	found   []string
	folders int // that were read
}

// newWalk returns a walk for a pattern, whose parts before the first with a special character are
// where it begins.
func newWalk(pattern string) (*walk, error) {
	pattern = filepath.ToSlash(filepath.Clean(pattern))
	begin := strings.LastIndex(pattern[:max(0, strings.IndexAny(pattern, `*?[{\`))], "/") + 1
	w := &walk{base: pattern[:begin]}
	rest, self := pattern[begin:], pattern[begin:]
	for strings.HasSuffix(self, "/**") {
		self = self[:len(self)-len("/**")]
	}
	if self == "**" {
		w.found = append(w.found, filepath.Clean(w.base))
	}
	var err, wrong error
	w.whole, err = compile(rest, true)
	if w.self, wrong = compile(self, true); err != nil || wrong != nil {
		return nil, cmp.Or(err, wrong)
	}
	for at, r := range rest {
		if r != '/' {
			continue
		}
		// What is no pattern alone has a slash within brackets.
		part, err := compile(rest[:at], true)
		if w.deeper = err != nil || strings.Contains(rest[:at], "**"); w.deeper {
			break
		}
		w.parts = append(w.parts, part)
	}
	w.deeper = w.deeper || strings.Contains(rest, "**")
	return w, nil
}

// folder finds paths in the folder at rel, from the base.
func (w *walk) folder(rel string, depth int) error {
	w.folders++
	list, err := os.ReadDir(filepath.Clean(w.base + rel))
	for _, e := range list {
		path := rel + e.Name()
		if w.whole.MatchString(path) || e.IsDir() && w.self.MatchString(path) {
			w.found = append(w.found, filepath.FromSlash(w.base+path))
		}
		if !e.IsDir() || !(depth < len(w.parts) && w.parts[depth].MatchString(path) || depth >= len(w.parts) && w.deeper) {
			continue
		}
		if err := w.folder(path+"/", depth+1); err != nil {
			return err
		}
	}
	if rel == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
