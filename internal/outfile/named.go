package outfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// named is a set of files of a run, which can be looked up by name and by identity. There may be
// thousands of files.
type named[T interface {
	at() string
	is() fs.FileInfo // nil if the file does not exist yet
}] struct {
	byName map[string][]T // by the last part of the path, folded
	there  []T            // those that exist
}

func (n *named[T]) add(x T) {
	if n.byName == nil {
		n.byName = map[string][]T{}
	}
	name := folded(x.at())
	n.byName[name] = append(n.byName[name], x)
	if x.is() != nil {
		n.there = append(n.there, x)
	}
}

// like returns the files whose names differ from a path at most in case.
func (n *named[T]) like(path string) []T { return n.byName[folded(path)] }

// same returns the first file with this identity.
func (n *named[T]) same(info fs.FileInfo) (x T, ok bool) {
	for _, x := range n.there {
		if os.SameFile(x.is(), info) {
			return x, true
		}
	}
	return x, false
}

// remove removes the files for which gone returns true.
func (n *named[T]) remove(gone func(T) bool) {
	for name, all := range n.byName {
		n.byName[name] = slices.DeleteFunc(all, gone)
	}
	n.there = slices.DeleteFunc(n.there, gone)
}

// folded maps the last part of a path to a key that is the same for all names that
// strings.EqualFold considers equal.
func folded(path string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, filepath.Base(path))
}
