package vfstest

import (
	"cmp"
	"io"

	"github.com/simdb/simdb/internal/vfs"
)

// WriteFile creates a file with the given content and syncs it, but not its name.
func WriteFile(fs vfs.FS, name, content string) error {
	f, err := fs.Create(name)
	if err != nil {
		return err
	}
	if _, err = f.Write([]byte(content)); err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// ReadFile returns the content of a file.
func ReadFile(fs vfs.FS, name string) (string, error) {
	f, err := fs.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	return string(data), err
}
