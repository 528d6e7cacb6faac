package files

import (
	"io/fs"
	"os"
)

// Set is a set of files. It compares the files themselves, not their paths: a file may have many
// paths.
type Set struct{ at map[[2]uint64][]member }

// member is a file of a Set.
type member struct {
	path string
	info fs.FileInfo
}

// Add adds a file. If the set already has the file, Add returns the path under which it was added.
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
