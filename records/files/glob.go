package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/simdb/simdb/internal/place"
)

// mostAlternatives is the largest number of patterns that the braces of a pattern may expand to.
const mostAlternatives = 4096

var errPattern = errors.New("a bracket or brace is unbalanced, a bracket is empty, or a backslash escapes nothing")

// negations adds the slash to the characters that [!a] does not match; doublestar would match it.
var negations = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "[[", "[[", "[!", "[!/", "[^", "[^/")

// token matches a character or a character class in a pattern.
var token = regexp.MustCompile(`(?s)\\.|\[[!^]?(?:\\.|[^\]\\])+\]|.`)

// expand appends the patterns that result from expanding the braces of a pattern. It stops once
// there are more than mostAlternatives. It expands the innermost braces first.
func expand(all []string, pattern string) []string {
	var cuts []int // positions of the last opening brace and the commas after it
	for _, t := range token.FindAllStringIndex(pattern, -1) {
		switch at := t[0]; pattern[at:t[1]] {
		case "{":
			cuts = []int{at}
		case ",":
			if cuts != nil {
				cuts = append(cuts, at)
			}
		case "}":
			cuts = append(cuts, at)
			for i := 1; i < len(cuts) && len(all) <= mostAlternatives; i++ {
				all = expand(all, pattern[:cuts[0]]+pattern[cuts[i-1]+1:cuts[i]]+pattern[t[1]:])
			}
			return all
		}
	}
	return append(all, pattern)
}

// A walk finds the paths that match any of its patterns. It reads each folder once, and skips
// folders that cannot match the parts of any pattern before its first **. Symbolic links are
// followed only in the base path. doublestar's own walk restarts at each **, which needs
// exponential time.
type walk struct {
	base     string
	patterns []pattern
	found    []string
	folders  int // number of folders read
}

// pattern is a pattern without braces.
type pattern struct {
	whole  string   // matches all paths: for a/**, those in the folder a
	self   string   // matches only folders: the folder a
	parts  []string // patterns for the path of a folder, indexed by depth
	deeper bool     // folders below these depths must be read, too
}

// newWalk returns a walk for a pattern. The walk begins at the parts before the first special
// character.
func newWalk(of string) (*walk, error) {
	if !place.IsRemote(of) {
		of = filepath.ToSlash(filepath.Clean(of))
	}
	if !doublestar.ValidatePattern(of) {
		return nil, errPattern
	}
	base, below := doublestar.SplitPattern(of)
	if base == filepath.VolumeName(base) {
		base += "/" // C: alone is the working directory of that drive
	}
	w := &walk{base: base}
	all := expand(nil, below)
	if len(all) > mostAlternatives {
		return nil, fmt.Errorf("the braces expand to more than %d patterns", mostAlternatives)
	}
	for _, one := range all {
		p := pattern{whole: negations.Replace(one), self: negations.Replace(one)}
		for strings.HasSuffix(p.self, "/**") {
			p.self, p.whole = strings.TrimSuffix(p.self, "/**"), negations.Replace(one)+"/*"
		}
		if p.self == "**" {
			w.found = []string{filepath.Clean(base)}
		}
		var before string
		before, _, p.deeper = strings.Cut(one, "**")
		for at, r := range before {
			if r == '/' && doublestar.ValidatePattern(one[:at]) { // the slash is not within brackets
				p.parts = append(p.parts, negations.Replace(one[:at]))
			}
		}
		w.patterns = append(w.patterns, p)
	}
	return w, nil
}

// matches reports whether a path, relative to the base, matches.
func (w *walk) matches(below string, isDir bool) bool {
	return slices.ContainsFunc(w.patterns, func(p pattern) bool {
		return doublestar.MatchUnvalidated(p.whole, below) || isDir && doublestar.MatchUnvalidated(p.self, below)
	})
}

// remote finds the matching files of a pattern that is a URL. Its part before the first special
// character limits the server's listing.
func (w *walk) remote(of string) error {
	before := of[:strings.IndexAny(of, `*?[{\`)]
	deep := strings.Contains(of[len(before):], "/") || strings.Contains(of, "**")
	names, err := place.List(context.Background(), before, deep)
	w.found = nil
	for _, name := range names {
		if below, ok := strings.CutPrefix(name, w.base+"/"); ok && w.matches(below, false) || name == of {
			w.found = append(w.found, name)
		}
	}
	return err
}

// folder finds matching paths in the folder at rel, relative to the base.
func (w *walk) folder(rel string, depth int) error {
	w.folders++
	list, err := os.ReadDir(filepath.Join(w.base, rel))
	if rel == "" && errors.Is(err, fs.ErrNotExist) {
		w.found, err = nil, nil
	}
	for _, e := range list {
		below := path.Join(rel, e.Name())
		if w.matches(below, e.IsDir()) {
			w.found = append(w.found, filepath.Join(w.base, below))
		}
		if !e.IsDir() || !slices.ContainsFunc(w.patterns, func(p pattern) bool {
			return depth < len(p.parts) && doublestar.MatchUnvalidated(p.parts[depth], below) || depth >= len(p.parts) && p.deeper
		}) {
			continue
		}
		if err := w.folder(below, depth+1); err != nil {
			return err
		}
	}
	return err
}
