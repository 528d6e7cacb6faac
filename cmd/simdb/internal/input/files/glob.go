package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// mostAlternatives bounds the patterns that the braces of one may stand for, as each is matched on
// its own.
const mostAlternatives = 4096

// negations adds the slash to the characters that [!a] does not match, which doublestar leaves out.
var negations = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "[[", "[[", "[!", "[!/", "[^", "[^/")

// validate reports what is wrong with a pattern.
func validate(pattern string) error {
	if !doublestar.ValidatePattern(pattern) {
		return errors.New("a bracket or brace is not closed or not opened, or a bracket has nothing in it, or a backslash has nothing to escape")
	}
	n := 1
	for _, s := range strings.Split(pattern, "{")[1:] {
		if n *= 1 + strings.Count(s, ","); n > mostAlternatives {
			return fmt.Errorf("the braces stand for more than %d patterns", mostAlternatives)
		}
	}
	return nil
}

// A walk finds the paths that match a pattern. It reads each folder once, and none that a part of
// the pattern before the first ** rules out. Symbolic links are not followed but at the beginning.
// The walk of doublestar begins anew at each **, and takes exponential time.
type walk struct {
	base    string
	parts   []string // patterns of the path of a folder, by its depth
	deeper  bool     // whether folders below those have to be read
	dirs    string   // pattern of folders
	rest    string   // pattern of all else: a/** matches the folder a, but no file a
	found   []string
	folders int // that were read
}

// newWalk returns a walk for a pattern, whose parts before the first with a special character are
// where it begins.
func newWalk(pattern string) (*walk, error) {
	pattern = filepath.ToSlash(filepath.Clean(pattern))
	if err := validate(pattern); err != nil {
		return nil, err
	}
	base, pattern := doublestar.SplitPattern(pattern)
	if base == filepath.VolumeName(base) {
		base += "/" // C: is the working directory of that drive
	}
	w := &walk{base: base, dirs: negations.Replace(pattern)}
	if w.rest = w.dirs; strings.HasSuffix(pattern, "/**") {
		w.rest += "/*"
	}
	if strings.ReplaceAll(pattern, "/**", "") == "**" {
		w.found = append(w.found, filepath.Clean(base))
	}
	before, _, deeper := strings.Cut(pattern, "**")
	w.deeper = deeper
	for at, r := range before {
		if r != '/' {
			continue
		}
		if !doublestar.ValidatePattern(pattern[:at]) { // the slash is within braces or brackets
			w.deeper = true
			break
		}
		w.parts = append(w.parts, negations.Replace(pattern[:at]))
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
		below, pattern := path.Join(rel, e.Name()), w.rest
		if e.IsDir() {
			pattern = w.dirs
		}
		if doublestar.MatchUnvalidated(pattern, below) {
			w.found = append(w.found, filepath.Join(w.base, below))
		}
		if !e.IsDir() || depth < len(w.parts) && !doublestar.MatchUnvalidated(w.parts[depth], below) || depth >= len(w.parts) && !w.deeper {
			continue
		}
		if err := w.folder(below, depth+1); err != nil {
			return err
		}
	}
	return err
}
