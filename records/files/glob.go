package files

import (
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
)

// mostAlternatives bounds the patterns without braces that one stands for.
const mostAlternatives = 4096

var errPattern = errors.New("a bracket or brace is not closed or not opened, or a bracket has nothing in it, or a backslash has nothing to escape")

// negations adds the slash to the characters that [!a] does not match, which doublestar leaves out.
var negations = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "[[", "[[", "[!", "[!/", "[^", "[^/")

// token is a character of a pattern or a class of them.
var token = regexp.MustCompile(`(?s)\\.|\[[!^]?(?:\\.|[^\]\\])+\]|.`)

// expand appends the patterns without braces that a pattern stands for, until there are too many.
// The alternatives that are innermost are put in the place of their braces.
func expand(all []string, pattern string) []string {
	var cuts []int // the last brace that opens, and the commas after it
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

// A walk finds the paths that match one of some patterns. It reads each folder once, and none that
// the parts of all patterns before the first ** rule out. Symbolic links are not followed but at
// the beginning. The walk of doublestar begins anew at each **, and takes exponential time.
type walk struct {
	base     string
	patterns []pattern
	found    []string
	folders  int // that were read
}

// pattern is one without braces.
type pattern struct {
	whole  string   // of all paths: what is in the folder a, for a/**
	self   string   // of folders alone: the folder a
	parts  []string // of the path of a folder, by its depth
	deeper bool     // whether folders below those have to be read
}

// newWalk returns a walk for a pattern, whose parts before the first with a special character are
// where it begins.
func newWalk(of string) (*walk, error) {
	of = filepath.ToSlash(filepath.Clean(of))
	if !doublestar.ValidatePattern(of) {
		return nil, errPattern
	}
	base, below := doublestar.SplitPattern(of)
	if base == filepath.VolumeName(base) {
		base += "/" // C: is the working directory of that drive
	}
	w := &walk{base: base}
	all := expand(nil, below)
	if len(all) > mostAlternatives {
		return nil, fmt.Errorf("the braces stand for more than %d patterns", mostAlternatives)
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
			if r == '/' && doublestar.ValidatePattern(one[:at]) { // and not within brackets
				p.parts = append(p.parts, negations.Replace(one[:at]))
			}
		}
		w.patterns = append(w.patterns, p)
	}
	return w, nil
}

// folder finds paths in the folder at rel, from the base.
func (w *walk) folder(rel string, depth int) error {
	w.folders++
	list, err := os.ReadDir(filepath.Join(w.base, rel))
	if rel == "" && errors.Is(err, fs.ErrNotExist) {
		w.found, err = nil, nil
	}
	for _, e := range list {
		below := path.Join(rel, e.Name())
		if slices.ContainsFunc(w.patterns, func(p pattern) bool {
			return doublestar.MatchUnvalidated(p.whole, below) || e.IsDir() && doublestar.MatchUnvalidated(p.self, below)
		}) {
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
