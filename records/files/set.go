package files

import (
	"io/fs"
	"os"
)

// Set has files by what they are, not by their paths: a file may have many.
type Set struct{ at map[[2]uint64][]member }

// member is a file of a Set.
type member struct {
	path string
	info fs.FileInfo
}

// Add adds a file. If the set has it already, it returns the path under which it does.
func (s *Set) Add(path string, info fs.FileInfo) (first string, had bool) {
	if s.at == nil {
		s.at = map[[2]uint64][]member{}
	}
	key := inode(info)
	for _, m := range s.at[key] {
		if os.SameFile(m.info, info) {
			return m.path, true
		}
	}
	s.at[key] = append(s.at[key], member{path, info})
	return "", false
}
