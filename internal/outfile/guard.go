package outfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/place"
)

// Guard opens all outputs of a run. It refuses an output that would replace a file that the run
// reads, a file of a database, another output of the run, or a file that does not look like an
// earlier output. It compares files by identity, so it recognises links and other spellings of a
// name. Its methods may be called concurrently.
type Guard struct {
	// Show, if not nil, returns the writer to an open file that may be a terminal. Output must
	// appear there at once, and must not control the terminal.
	Show func(*os.File) io.Writer

	// Identify describes in words which part of a database is at path, or returns "" if there is
	// none. It must be set.
	Identify func(path string) (string, error)

	mu      sync.Mutex
	uses    named[use]
	outputs named[claim]
	writers []*Writer // all created writers
}

// use is a file that the run reads, or writes itself.
type use struct {
	path string
	what string      // "an input file"
	info fs.FileInfo // nil if the file does not exist yet
}

func (u use) at() string      { return u.path }
func (u use) is() fs.FileInfo { return u.info }

type claim struct {
	flag, path string
	info       fs.FileInfo // of the existing file, or nil
}

func (c claim) at() string      { return c.path }
func (c claim) is() fs.FileInfo { return c.info }

// Uses registers an input or a database of the run. what describes it in messages: "an input file".
func (g *Guard) Uses(path, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	g.uses.add(use{path, what, info})
	if info == nil || !info.IsDir() {
		return
	}
	if kind, err := g.Identify(path); err != nil || kind == "" {
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries { // there may be hard links to them anywhere
		if info, err := e.Info(); err == nil {
			g.uses.add(use{filepath.Join(path, e.Name()), "a file of the database " + path, info})
		}
	}
}

// UsesFile registers an open file that the run reads, such as standard input.
func (g *Guard) UsesFile(f *os.File, what string) {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.uses.add(use{f.Name(), what, info})
	}
}

// Claim checks that the output of a flag may be written at path, and reserves path for it. The path
// "-" is standard output. Claim does not change any file. Claiming the same path again has no
// effect.
func (g *Guard) Claim(flag, path string, kind Kind) error {
	if IsStdout(path) {
		return g.claim(flag, "-", stdoutInfo())
	}
	if kind.fresh {
		if err := checkFresh(path); err != nil {
			return fmt.Errorf("%s: %w", called(flag, path), err)
		}
	}
	info, direct, err := g.look(flag, path)
	if err != nil {
		return err
	}
	if !direct {
		if err := kind.checkEnding(path); err != nil {
			return fmt.Errorf("%s: %w", called(flag, path), err)
		}
	}
	return g.claim(flag, path, info)
}

// checkFresh returns an error if there is a file at path.
func checkFresh(path string) error {
	if !place.IsRemote(path) {
		if _, err := os.Lstat(path); err == nil {
			return errors.New("already exists")
		}
		return nil
	}
	if err := place.Writable(path); err != nil {
		return err
	}
	_, err := place.Stat(context.Background(), path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(Cause(err), errors.New("already exists"))
}

// CheckInput returns an error if an output of the run would replace a file that the run reads. It
// is for files that become known only after outputs were claimed; other files are registered by
// Uses.
func (g *Guard) CheckInput(path string, info fs.FileInfo) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.outputs.like(path) {
		if place.IsRemote(path) && c.path == path {
			return fmt.Errorf("%s would overwrite %s, an input file", called(c.flag, c.path), path)
		}
	}
	if info == nil {
		return nil
	}
	for _, c := range g.outputs.there {
		if c.info.Mode().IsRegular() && os.SameFile(c.info, info) {
			if c.path == "-" {
				return fmt.Errorf("standard output is %s, an input file", path)
			}
			return fmt.Errorf("%s would overwrite %s, an input file", called(c.flag, c.path), path)
		}
	}
	return nil
}

// Release releases the paths that a flag has claimed, so that the flag may be used for another
// file.
func (g *Guard) Release(flag string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outputs.remove(func(c claim) bool { return c.flag == flag })
}

// claim registers an output, unless another flag has claimed it.
func (g *Guard) claim(flag, path string, info fs.FileInfo) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if path == "-" && info != nil {
		if u, ok := g.uses.same(info); ok {
			return fmt.Errorf("standard output is %s, %s", u.what, u.path)
		}
	}
	for _, c := range g.outputs.like(path) {
		switch {
		case c.flag == flag && c.path == path:
			return nil
		case c.path == "-" && path == "-":
			return fmt.Errorf("%s and %s are both standard output", flag, c.flag)
		case c.path != "-" && path != "-" && samePlace(c.path, path):
			return sameOutput(flag, c.flag, path)
		}
	}
	if info != nil && info.Mode()&fs.ModeCharDevice == 0 {
		if c, ok := g.outputs.same(info); ok {
			return sameOutput(flag, c.flag, path)
		}
	}
	g.outputs.add(claim{flag, path, info})
	return nil
}

// sameOutput returns the error for an output that another flag has claimed.
func sameOutput(flag, other, path string) error {
	return fmt.Errorf("%s and %s are the same file, %s", flag, other, path)
}

// look checks the file at path. It returns its description, or nil if it does not exist, and
// whether it is written directly, as pipes and devices are.
func (g *Guard) look(flag, path string) (info fs.FileInfo, direct bool, err error) {
	name := called(flag, path)
	_, base := filepath.Split(path)
	if base == "" || base == "." || base == ".." {
		return nil, false, fmt.Errorf("%s is a folder", name)
	}
	if place.IsRemote(path) {
		if err := place.Writable(path); err != nil {
			return nil, false, fmt.Errorf("%s: %w", name, err)
		}
		return nil, false, g.lookUsed(name, path)
	}
	link, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, g.lookFolder(name, path)
	}
	if err == nil {
		info, err = os.Stat(path)
	}
	if link != nil && link.Mode()&fs.ModeSymlink != 0 {
		if info == nil || !info.Mode().IsRegular() && !isDirect(info) {
			return nil, false, fmt.Errorf("%s is a symbolic link; name the file itself", name)
		}
		if info.Mode().IsRegular() && !IsDescriptor(path) {
			to, _ := filepath.EvalSymlinks(path)
			if err := g.used(name, info); err != nil {
				return nil, false, err
			}
			return nil, false, fmt.Errorf("%s is a symbolic link to %s; name the file itself", name, to)
		}
	}
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("%s: %w", name, Cause(err))
	case info.IsDir():
		if what, err := g.Identify(path); err == nil && what != "" {
			return nil, false, fmt.Errorf("%s is %s", name, what)
		}
		return nil, false, fmt.Errorf("%s is a folder", name)
	case isDirect(info):
		return info, true, nil
	case !info.Mode().IsRegular():
		return nil, false, fmt.Errorf("%s is neither a file nor a pipe", name)
	}
	if err := g.used(name, info); err != nil {
		return nil, false, err
	}
	if IsDescriptor(path) {
		return info, true, nil
	}
	what, err := g.Identify(path)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", name, Cause(err))
	}
	if what != "" {
		return nil, false, fmt.Errorf("%s is %s, which is not overwritten", name, what)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // replacing it would only require write access to its folder, but its owner may not want that
	if err == nil {
		err = errors.Join(f.Close(), writable(folder(path)))
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", name, Cause(err))
	}
	return info, false, nil
}

// lookFolder checks that a new file may be created in a folder.
func (g *Guard) lookFolder(name, path string) error {
	dir := folder(path)
	_, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no folder %s", name, filepath.Clean(dir))
	}
	if err == nil {
		err = writable(dir)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, Cause(err))
	}
	if err := g.lookUsed(name, path); err != nil {
		return err
	}
	what, err := g.Identify(path)
	if err != nil {
		return fmt.Errorf("%s: %w", name, Cause(err))
	}
	if what != "" {
		return fmt.Errorf("%s would be %s", name, what)
	}
	return nil
}

// lookUsed returns an error if the run uses a file of this name that is remote or that has not been
// created yet.
func (g *Guard) lookUsed(name, path string) error {
	for _, u := range g.usesLike(path) {
		if samePlace(u.path, path) {
			return fmt.Errorf("%s would overwrite %s", name, u.what)
		}
	}
	return nil
}

// used returns an error if the run uses the file.
func (g *Guard) used(name string, info fs.FileInfo) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if u, ok := g.uses.same(info); ok {
		return fmt.Errorf("%s would overwrite %s", name, u.what)
	}
	return nil
}

// usesLike returns the files that the run uses whose names are equal except for case.
func (g *Guard) usesLike(path string) []use {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.uses.like(path))
}

// shown returns the writer to a file that existed before.
func (g *Guard) shown(f *os.File) io.Writer {
	if g.Show == nil {
		return f
	}
	return g.Show(f)
}

// Create starts to write the output of a flag at path, and claims path if necessary. Opening a pipe
// waits for its reader until ctx ends.
func (g *Guard) Create(ctx context.Context, flag, path string, kind Kind) (*Writer, error) {
	if err := g.Claim(flag, path, kind); err != nil {
		return nil, err
	}
	if IsStdout(path) {
		return stdout(g.shown(os.Stdout)), nil
	}
	_, direct, err := g.look(flag, path)
	if err != nil {
		return nil, err
	}
	w := &Writer{guard: g, flag: flag, path: path, direct: direct}
	switch fd, open := descriptor(path); {
	case open && fd == 2:
		return stdout(g.shown(os.Stderr)), nil
	case open: // opening it again would overwrite what others have written to it
		w.file = os.NewFile(uintptr(fd), path)
	case direct:
		w.file, err = openDirect(ctx, path)
	case place.IsRemote(path):
		err = w.createUpload(ctx)
	default:
		err = w.createTemp()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", called(flag, path), Cause(err))
	}
	if err := w.begin(renaming{g.shown(w.file), w.path}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers = append(g.writers, w)
	return w, nil
}

// Abort drops all incomplete outputs, before the process ends.
func (g *Guard) Abort() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.writers {
		w.Abort()
	}
}

// openDirect opens a pipe or a device.
func openDirect(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done(): // if the open succeeds later, the file is closed with the process
		return nil, context.Cause(ctx)
	}
}
