package vfstest

import (
	"io"
	"os"
	"path"

	"github.com/simdb/simdb/internal/vfs"
)

// memRoot is a directory of a Mem, identified by its path: directories of a Mem are not renamed
// while open.
type memRoot struct {
	m   *Mem
	dir string
}

// OpenRoot implements vfs.FS.
func (m *Mem) OpenRoot(dir string) (vfs.Root, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.findDir("open", dir); err != nil {
		return nil, err
	}
	return memRoot{m, dir}, nil
}

func (r memRoot) at(name string) string { return path.Join(r.dir, name) }

func (r memRoot) Create(name string) (vfs.File, error) { return r.m.Create(r.at(name)) }
func (r memRoot) Open(name string) (vfs.File, error)   { return r.m.Open(r.at(name)) }
func (r memRoot) Append(name string) (vfs.File, error) { return r.m.Append(r.at(name)) }
func (r memRoot) Remove(name string) error             { return r.m.Remove(r.at(name)) }
func (r memRoot) Rename(oldName, newName string) error {
	return r.m.Rename(r.at(oldName), r.at(newName))
}
func (r memRoot) RenameNew(oldName, newName string) error {
	return r.m.RenameNew(r.at(oldName), r.at(newName))
}
func (r memRoot) MkdirAll(dir string) error           { return r.m.MkdirAll(r.at(dir)) }
func (r memRoot) RemoveAll(dir string) error          { return r.m.RemoveAll(r.at(dir)) }
func (r memRoot) List(dir string) ([]string, error)   { return r.m.List(r.at(dir)) }
func (r memRoot) Stat(name string) (vfs.Info, error)  { return r.m.Stat(r.at(name)) }
func (r memRoot) SyncDir(dir string) error            { return r.m.SyncDir(r.at(dir)) }
func (r memRoot) Lock(name string) (io.Closer, error) { return r.m.Lock(r.at(name)) }
func (r memRoot) OpenShared(name string) (vfs.SharedMemory, error) {
	return r.m.OpenShared(r.at(name))
}
func (r memRoot) OpenRoot(dir string) (vfs.Root, error)     { return r.m.OpenRoot(r.at(dir)) }
func (r memRoot) Commit(name string, do func() error) error { return r.m.Commit(r.at(name), do) }
func (r memRoot) Committed(name string)                     { r.m.Committed(r.at(name)) }
func (r memRoot) HostFile(name string, flag int) (*os.File, error) {
	return r.m.HostFile(r.at(name), flag)
}

// Close does nothing.
func (memRoot) Close() error { return nil }
