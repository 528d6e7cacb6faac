package shard

import (
	"bufio"
	"context"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/records/files"
)

// A reader reads a working file.
type reader = *bufio.Reader

func (j *Job) workName(name string) string { return strings.TrimSuffix(j.o.Work, "/") + "/" + name }

// tempDir creates a folder on this machine; done removes it.
func (j *Job) tempDir() (dir string, done func(), err error) {
	dir, err = os.MkdirTemp(j.o.Job.TempDir, "simdb-shard-*")
	return dir, func() { os.RemoveAll(dir) }, err
}

// store writes a working file.
func (j *Job) store(ctx context.Context, name string, write func(w *bufio.Writer) error) error {
	dir, done, err := j.tempDir()
	if err != nil {
		return err
	}
	defer done()
	f, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 256<<10)
	if err := errors.Join(write(w), w.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return j.files.Put(ctx, f.Name(), j.workName(name))
}

// read reads a working file.
func (j *Job) read(ctx context.Context, name string, read func(r reader) error) error {
	path, release, err := j.files.Fetch(ctx, j.workName(name))
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err == nil {
		err = errors.Join(read(bufio.NewReaderSize(f, 256<<10)), f.Close())
	}
	return errors.Join(err, release())
}

// put appends a message to a file: its length, then its bytes.
func put(w *bufio.Writer, message []byte) error {
	w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(len(message))))
	_, err := w.Write(message)
	return err
}

// get reads a message into the memory of room, and returns io.EOF at the end.
func get(r reader, room []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if n > 1<<31 {
		return nil, errors.New("damaged working file")
	}
	room = slices.Grow(room[:0], int(n))[:n]
	_, err = io.ReadFull(r, room)
	return room, noEOF(err)
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A message is a pointer to a value that is sent.
type message[T any] interface {
	*T
	encoding.BinaryUnmarshaler
}

// eachMessage calls f for all messages of a step except empty ones.
func eachMessage(in iter.Seq2[[]byte, error], f func(b []byte) error) error {
	for b, err := range in {
		if err == nil && len(b) > 0 {
			err = f(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls f for all messages of a step except empty ones.
func each[T any, P message[T]](in iter.Seq2[[]byte, error], f func(T) error) error {
	var x, none T // one x for all messages, because it is allocated on the heap
	return eachMessage(in, func(b []byte) error {
		x = none
		if err := P(&x).UnmarshalBinary(b); err != nil {
			return err
		}
		return f(x)
	})
}

// all returns all messages of a step except empty ones.
func all[T any, P message[T]](in iter.Seq2[[]byte, error]) (xs []T, err error) {
	err = each[T, P](in, func(x T) error {
		if len(xs) == cap(xs) { // append would grow by less, and copy more often
			xs = slices.Grow(xs, max(len(xs), 16))
		}
		xs = append(xs, x)
		return nil
	})
	return xs, err
}

// stored yields the messages in a working file.
func stored(r reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var room []byte
		for {
			var err error
			if room, err = get(r, room); err == io.EOF || !yield(room, err) || err != nil {
				return
			}
		}
	}
}

func sender(send Send) func(key uint64, x encoding.BinaryAppender) error {
	var room []byte
	return func(key uint64, x encoding.BinaryAppender) (err error) {
		if room, err = x.AppendBinary(room[:0]); err != nil {
			return err
		}
		return send(key, room)
	}
}

var errMessage = errors.New("damaged message")

// numbers is a message of numbers.
type numbers []uint64

// AppendBinary appends the message to dst.
func (x numbers) AppendBinary(dst []byte) ([]byte, error) {
	for _, n := range x {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst, nil
}

// UnmarshalBinary reads the message.
func (x *numbers) UnmarshalBinary(b []byte) error {
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errMessage
		}
		*x, b = append(*x, v), b[n:]
	}
	return nil
}

// Local implements Files on this machine. Inputs and outputs may be remote, too, if the program
// imports package records/remote.
type Local struct{}

// Glob implements Files.
func (Local) Glob(ctx context.Context, pattern string) ([]string, error) {
	if place.IsRemote(pattern) {
		names, err := files.Expand(pattern, false)
		if err == nil && slices.Equal(names, []string{pattern}) {
			_, err = place.Stat(ctx, pattern)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return names, err
	}
	if _, err := os.Stat(pattern); err == nil {
		return []string{pattern}, nil
	}
	return filepath.Glob(pattern)
}

// Fetch implements Files: the path is the name, or that of a copy of a remote file.
func (Local) Fetch(ctx context.Context, name string) (string, func() error, error) {
	if place.IsRemote(name) {
		return fetch(ctx, name)
	}
	_, err := os.Stat(name)
	return name, func() error { return nil }, err
}

// fetch copies a remote file to a temporary one.
func fetch(ctx context.Context, name string) (string, func() error, error) {
	src, err := place.Open(ctx, name)
	if err != nil {
		return "", nil, err
	}
	defer src.Close()
	dir, err := os.MkdirTemp("", "simdb-shard-*")
	if err != nil {
		return "", nil, err
	}
	release := func() error { return os.RemoveAll(dir) }
	to, err := os.Create(filepath.Join(dir, path.Base(place.Path(name))))
	if err == nil {
		_, err = io.Copy(to, src)
		err = errors.Join(err, to.Close())
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("%s: %w", name, err), release())
	}
	return to.Name(), release, nil
}

// send copies a file to a remote one.
func send(ctx context.Context, from, name string) error {
	up, err := place.Create(ctx, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer up.Drop()
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	size, err := src.Seek(0, io.SeekEnd)
	if err == nil {
		err = up.Send(ctx, src, size, func() { src.Close() })
	}
	if err == nil {
		err = up.Publish(ctx)
	}
	if err == nil {
		err = os.Remove(from)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// disk renames files and makes names survive a power cut: a step counts as done once its names
// exist.
var disk = vfs.Disk

// makeDir creates a folder and its parents so that the names survive a power cut. Another process
// may have created the folder just now, so the name of an existing folder is synced, too, where
// that is allowed.
func makeDir(dir string) error {
	parent := filepath.Dir(dir)
	_, missing := os.Stat(dir)
	if missing != nil && parent != dir {
		if err := errors.Join(makeDir(parent), os.MkdirAll(dir, 0o777)); err != nil {
			return err
		}
	}
	err := disk.SyncDir(parent)
	if missing == nil && errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// Put implements Files: it renames the file; from another file system, it first copies the file
// to a temporary folder beside the target. The content must already be on the disk.
func (Local) Put(ctx context.Context, path, name string) error {
	if place.IsRemote(name) {
		return send(ctx, path, name)
	}
	parent := filepath.Dir(name)
	if err := makeDir(parent); err != nil {
		return err
	}
	if disk.Rename(path, name) == nil {
		return disk.SyncDir(parent)
	}
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	dir, err := os.MkdirTemp(parent, ".simdb-*.tmp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	to, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, src)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return err
	}
	return errors.Join(disk.Rename(to.Name(), name), disk.SyncDir(parent))
}
