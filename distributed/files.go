package distributed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/simdb/simdb/dedup/shard"
)

// Files gives access to Beam's file systems: a name such as gs://bucket/name has the scheme of a
// file system, and a name without a scheme is in a folder that all workers can reach. A program
// supports the schemes whose packages it imports; Beam itself imports the package for gs://.
type Files struct {
	Dir string // the working directory of the process that submits the job
}

// local returns the path of a name without a scheme.
func (f Files) local(name string) (path string, ok bool) {
	if strings.Contains(name, "://") {
		return "", false
	}
	if filepath.IsAbs(name) {
		return name, true
	}
	return filepath.Join(f.Dir, name), true
}

// Glob implements shard.Files, in the process that submits the job.
func (Files) Glob(ctx context.Context, pattern string) (names []string, err error) {
	if !strings.Contains(pattern, "://") {
		return shard.Local{}.Glob(ctx, pattern)
	}
	err = with(ctx, pattern, func(system filesystem.Interface) (err error) {
		names, err = system.List(ctx, pattern)
		return err
	})
	slices.Sort(names)
	return names, err
}

// with calls f with the file system of a name.
func with(ctx context.Context, name string, f func(filesystem.Interface) error) error {
	system, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	if err := errors.Join(f(system), system.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Fetch implements shard.Files.
func (f Files) Fetch(ctx context.Context, name string) (local string, release func() error, err error) {
	if path, ok := f.local(name); ok {
		return shard.Local{}.Fetch(ctx, path)
	}
	dir, err := os.MkdirTemp("", "simdb-beam-*")
	if err != nil {
		return "", nil, err
	}
	release = func() error { return os.RemoveAll(dir) }
	local = filepath.Join(dir, path.Base(name))
	if err := with(ctx, name, func(system filesystem.Interface) error { return get(ctx, system, name, local) }); err != nil {
		return "", nil, errors.Join(err, release())
	}
	return local, release, nil
}

// get copies a file to a local one.
func get(ctx context.Context, system filesystem.Interface, name, local string) error {
	r, err := system.OpenRead(ctx, name)
	if err != nil {
		// Each system has a different error for a file that does not exist.
		if names, failed := system.List(ctx, name); failed == nil && len(names) == 0 {
			err = fs.ErrNotExist
		}
		return err
	}
	defer r.Close()
	to, err := os.Create(local)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, r)
	return errors.Join(err, to.Close())
}

// Put implements shard.Files.
func (f Files) Put(ctx context.Context, local, name string) error {
	if path, ok := f.local(name); ok {
		return shard.Local{}.Put(ctx, local, path)
	}
	from, err := os.Open(local)
	if err != nil {
		return err
	}
	defer from.Close()
	return with(ctx, name, func(system filesystem.Interface) error {
		// An object exists once its writer is closed, and never if its context has ended before.
		ctx, abandon := context.WithCancel(ctx)
		defer abandon()
		w, err := system.OpenWrite(ctx, name)
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, from); err != nil {
			return err
		}
		return w.Close()
	})
}
