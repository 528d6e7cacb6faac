package files

import (
	"io/fs"

	"github.com/simdb/simdb/internal/place"
)

// Set is a set of files. It compares the files themselves, not their paths: a file may have many
// paths.
type Set struct{ at map[any][]member } // by inode, or by the name of a remote file

// member is a file of a Set.
type member struct {
	path string
	info fs.FileInfo
}

// Add adds a file. If the set already has the file, Add returns the path under which it was added.
func (s *Set) Add(path string, info fs.FileInfo) (first string, had bool) {
	if s.at == nil {
		s.at = map[any][]member{}
	}
	var key any = inode(info)
	if id, remote := info.Sys().(place.ID); remote {
		key = id.Name
	}
	for _, m := range s.at[key] {
		if place.SameFile(m.info, info) {
			return m.path, true
		}
	}
	s.at[key] = append(s.at[key], member{path, info})
	return "", false
}
