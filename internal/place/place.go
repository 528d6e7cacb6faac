// Package place finds and opens files by name. A name is a path of the disk, or a URL whose scheme
// a package such as records/remote has registered. Callers need not know which one it is.
package place

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Store has the files of a URL scheme. Errors do not repeat the name; they wrap fs.ErrNotExist if
// there is no such file.
type Store interface {
	// Stat describes a file.
	Stat(ctx context.Context, name string) (fs.FileInfo, error)

	// Open opens a file. The File is an io.ReaderAt, too, if the server can send parts of a file.
	Open(ctx context.Context, name string) (File, error)

	// OpenPieces opens a file whose parts are read in any order, each by a request of its own, except
	// for the last n bytes. Several goroutines may read.
	OpenPieces(ctx context.Context, name string, n int64) (Pieces, error)

	// List calls each for the files whose names begin with prefix, in any order; unless deep is set,
	// only for those without a further slash.
	List(ctx context.Context, prefix string, deep bool, each func(name string, info fs.FileInfo)) error

	// Lists reports whether the store can list files, so that a name may be a pattern.
	Lists() bool

	// Writable returns an error if the store has no such file to write.
	Writable(name string) error

	// Create begins to write a file.
	Create(ctx context.Context, name string) (Upload, error)
}

// File is an open file.
type File interface {
	io.ReadSeekCloser
	Stat() (fs.FileInfo, error)
}

// Pieces is a file whose parts are read in any order.
type Pieces interface {
	io.ReaderAt
	Size() int64
	// During tells that a search reads the file until end is called. Once the contexts of all searches have
	// ended, reads end, too.
	During(ctx context.Context) (end func())
}

// Upload is a file of a Store that is being written. Nobody sees it before Publish.
type Upload interface {
	// Send sends the content. It calls release once the content is not needed any more, maybe only
	// after Publish or Drop.
	Send(ctx context.Context, content io.ReaderAt, size int64, release func()) error
	// Publish gives the file its name, and replaces a file of that name.
	Publish(ctx context.Context) error
	// Drop removes the bytes that were sent. After Publish it has no effect. It may be called while another
	// goroutine sends, before the process ends.
	Drop()
}

// Joint is an Upload that can be published together with others.
type Joint interface {
	Upload
	// Include lets Publish publish other, too, which was sent before: all of these files appear, or none does. It
	// returns false if that is not possible. The Publish of other then has no effect.
	Include(other Upload) bool
}

// ID is the Sys of the FileInfo of a Store.
type ID struct {
	Name string
	ETag string // of this version of the file; or ""
}

var (
	stores = map[string]Store{}
	mu     sync.Mutex
	listed = map[string]entry{} // files that List has found and Stat has not described yet
)

// entry is a file of a list, which was correct at that time.
type entry struct {
	info fs.FileInfo
	at   time.Time
}

// fresh is how long a list is believed.
const fresh = time.Minute

// Register adds the store of a scheme. Packages call it from their init functions.
func Register(scheme string, s Store) { stores[scheme] = s }

// Schemes returns the registered schemes in order, such as "https".
func Schemes() []string { return slices.Sorted(maps.Keys(stores)) }

// of returns the store of a name, nil for a path of the disk.
func of(name string) Store {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok {
		return nil
	}
	return stores[scheme]
}

// IsRemote reports whether a name is a URL with a registered scheme.
func IsRemote(name string) bool { return of(name) != nil }

// Lists reports whether a name is a URL and may be a pattern.
func Lists(name string) bool { s := of(name); return s != nil && s.Lists() }

// failed adds the name to the error of a Store.
func failed(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Stat describes a file; ctx may be nil. If List has found the file, the first Stat asks no server.
func Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	s := of(name)
	if s == nil {
		return os.Stat(name)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	mu.Lock()
	e, ok := listed[name]
	delete(listed, name)
	mu.Unlock()
	if ok && time.Since(e.at) < fresh {
		return e.info, nil
	}
	info, err := s.Stat(ctx, name)
	return info, failed("stat", name, err)
}

// Open opens a file for reading. The end of ctx interrupts reads of a remote file; ctx may be nil.
func Open(ctx context.Context, name string) (File, error) {
	s := of(name)
	if s == nil {
		return os.Open(name)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	f, err := s.Open(ctx, name)
	return f, failed("open", name, err)
}

// OpenPieces opens a remote file whose parts are read in any order, each by a request of its own, except
// for the last n bytes. Several goroutines may read. The end of ctx interrupts reads.
func OpenPieces(ctx context.Context, name string, n int64) (Pieces, error) {
	r, err := of(name).OpenPieces(ctx, name, n)
	return r, failed("open", name, err)
}

// ReadFile returns the content of a file.
func ReadFile(ctx context.Context, name string) ([]byte, error) {
	f, err := Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// List returns the remote files whose names begin with prefix; unless deep is set, only those
// without a further slash.
func List(ctx context.Context, prefix string, deep bool) (names []string, err error) {
	now := time.Now()
	err = of(prefix).List(ctx, prefix, deep, func(name string, info fs.FileInfo) {
		mu.Lock()
		listed[name] = entry{info, now}
		mu.Unlock()
		names = append(names, name)
	})
	return names, err
}

// Writable returns an error if a remote file cannot be written, whatever its content.
func Writable(name string) error { return of(name).Writable(name) }

// Create begins to write a remote file.
func Create(ctx context.Context, name string) (Upload, error) { return of(name).Create(ctx, name) }

// Include lets the Publish of an upload publish another one, too, see Joint.
func Include(first, other Upload) bool { j, ok := first.(Joint); return ok && j.Include(other) }

// Put sends the file of the disk that write writes to a server, where it replaces a file of that name. If that is
// not allowed, Put does not call write.
func Put(ctx context.Context, name, local string, write func() error) (err error) {
	to, err := Create(ctx, name)
	if err != nil {
		return failed("write", name, err)
	}
	defer to.Drop()
	if err := write(); err != nil {
		return err
	}
	f, err := os.Open(local)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err == nil {
		err = to.Send(ctx, f, info.Size(), func() {})
	}
	if err == nil {
		err = to.Publish(ctx)
	}
	return failed("write", name, err)
}

// SameFile reports whether two descriptions are of the same file, like os.SameFile. Descriptions of
// two versions of a remote file differ.
func SameFile(a, b fs.FileInfo) bool {
	x, remote := a.Sys().(ID)
	y, both := b.Sys().(ID)
	if remote && both {
		return x.Name == y.Name && (x.ETag == y.ETag || x.ETag == "" || y.ETag == "")
	}
	return !remote && !both && os.SameFile(a, b)
}

// Same reports whether two names denote the same file, which exists. Names of remote files are
// compared as they are.
func Same(a, b string) bool {
	if IsRemote(a) || IsRemote(b) {
		return a == b
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// Path returns a name without the query of a URL, so that its ending tells the format.
func Path(name string) string {
	if strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://") {
		name, _, _ = strings.Cut(name, "?")
	}
	return name
}

// Join returns the name of a file in a folder.
func Join(folder string, parts ...string) string {
	if !IsRemote(folder) {
		return filepath.Join(append([]string{folder}, parts...)...)
	}
	return strings.TrimSuffix(folder, "/") + "/" + path.Join(filepath.ToSlash(filepath.Join(parts...)))
}
