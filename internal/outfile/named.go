package outfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// named are files of a run, found by their names and by their identity. There may be thousands of
// them.
type named[T interface {
	at() string
	is() fs.FileInfo // nil if there is nothing yet
}] struct {
	byName map[string][]T // by the folded last part of the path
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

// like returns the files whose names are that of a path except for upper and lower case.
func (n *named[T]) like(path string) []T { return n.byName[folded(path)] }

// same returns the first of the files that is the one described.
func (n *named[T]) same(info fs.FileInfo) (x T, ok bool) {
	for _, x := range n.there {
		if os.SameFile(x.is(), info) {
			return x, true
		}
	}
	return x, false
}

// remove removes the files that gone names.
func (n *named[T]) remove(gone func(T) bool) {
	for name, all := range n.byName {
		n.byName[name] = slices.DeleteFunc(all, gone)
	}
	n.there = slices.DeleteFunc(n.there, gone)
}

// folded is the last part of a path, the same for all that strings.EqualFold takes for equal.
func folded(path string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, filepath.Base(path))
}
