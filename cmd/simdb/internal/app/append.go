package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/internal/vfs"
)

// OpenToAppend opens a file of JSON lines to append lines to it, and creates it if there is none.
// The next line begins after a line end, even if an editor has left none. A last line that a power cut
// has left incomplete is removed.
func OpenToAppend(path string) (_ *os.File, err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return f, err
	}
	var first, last [1]byte
	if _, err := f.ReadAt(first[:], 0); err != nil {
		return nil, err
	}
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil {
		return nil, err
	}
	if !strings.Contains("{ \t\r\n\xef", string(first[:])) { // \xef begins a byte order mark
		return nil, fmt.Errorf("%s is compressed, so that answers cannot be appended: decompress it first", path)
	}
	if last[0] != '\n' {
		err = endLine(f, info.Size())
	}
	return f, err
}

// endLine ends the last line of a file of that size, or removes it if it is incomplete.
func endLine(f *os.File, size int64) error {
	const longest = 4 << 20
	tail := make([]byte, min(size, longest))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return err
	}
	tail = tail[bytes.LastIndexByte(tail, '\n')+1:]
	if dedup.Incomplete(tail) {
		_, err := TakeBack(f, size-int64(len(tail)), size)
		return err
	}
	_, err := f.WriteString("\n")
	return err
}

// AppendLine appends a line to a file that OpenToAppend has opened, and syncs it. It returns the size
// of the file before. If the line cannot be written whole, none of it stays, unless another process
// has appended to the file meanwhile.
func AppendLine(f *os.File, line []byte) (before int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	before = info.Size()
	n, err := f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if err == nil && before == 0 { // the file may be new
		err = vfs.Disk.SyncDir(filepath.Dir(f.Name()))
	}
	if err != nil {
		_, failed := TakeBack(f, before, before+int64(n))
		err = errors.Join(err, failed)
	}
	return before, err
}

// TakeBack removes the end of a file from a size on, and reports whether it did: it leaves a file that
// has not the size want, as another process has appended to it, and one that was replaced by another.
func TakeBack(f *os.File, from, want int64) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Stat(f.Name())
	if err != nil || !os.SameFile(info, now) || now.Size() != want {
		return false, err
	}
	// By its name: on Windows, a file that is opened to append has no right to be cut.
	err = os.Truncate(f.Name(), from)
	return err == nil, err
}
