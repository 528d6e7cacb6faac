package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/internal/vfs"
)

// OpenToAppend opens a file of JSON lines for AppendLine and TakeBack, and creates it if there is none.
func OpenToAppend(path string) (_ *os.File, err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	var first [1]byte
	_, err = f.ReadAt(first[:], 0)
	if err == io.EOF { // it is empty
		return f, nil
	}
	if err == nil && !strings.Contains("{ \t\r\n\xef", string(first[:])) { // \xef begins a byte order mark
		err = fmt.Errorf("%s is compressed, so that answers cannot be appended: decompress it first", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// AppendLine appends a line to a file, and syncs it. The line begins after a line end, even if an editor
// has left none; a last line that a power cut has left incomplete is removed. It returns where the line
// begins, and the size of the file after. If the line cannot be written whole, or another program has removed
// or replaced the file, none of it stays. Calls of other processes wait meanwhile.
func AppendLine(f *os.File, line []byte) (before, after int64, err error) {
	unlock, err := vfs.LockOpen(f)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	size, ok := sizeOf(f)
	if !ok {
		return 0, 0, fmt.Errorf("%s was removed or replaced by another program: nothing was stored; start again", f.Name())
	}
	before = size
	var last [1]byte
	if before > 0 {
		if _, err := f.ReadAt(last[:], before-1); err != nil {
			return 0, 0, err
		}
		if last[0] != '\n' {
			cut, err := cutIncomplete(f, before)
			if err != nil {
				return 0, 0, err
			}
			if before -= cut; cut == 0 {
				line = append([]byte("\n"), line...)
			}
		}
	}
	n, err := f.Write(line)
	after = before + int64(n)
	if err == nil {
		err = f.Sync()
	}
	if err == nil && before == 0 { // the file may be new
		err = vfs.Disk.SyncDir(filepath.Dir(f.Name()))
	}
	if err != nil {
		_, failed := takeBack(f, before, after)
		err = errors.Join(err, failed)
	}
	return before, after, err
}

// cutIncomplete removes the last line of a file of that size, which has no end, if it is incomplete. It
// returns the bytes removed.
func cutIncomplete(f *os.File, size int64) (cut int64, err error) {
	const longest = 4 << 20
	tail := make([]byte, min(size, longest))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return 0, err
	}
	tail = tail[bytes.LastIndexByte(tail, '\n')+1:]
	if !dedup.Incomplete(tail) {
		return 0, nil
	}
	done, err := takeBack(f, size-int64(len(tail)), size)
	if !done {
		return 0, err
	}
	return int64(len(tail)), err
}

// TakeBack removes the end of a file from a size on, and reports whether it did: it leaves a file that
// has not the size want, as another process has appended to it, and one that was replaced by another.
func TakeBack(f *os.File, from, want int64) (done bool, err error) {
	unlock, err := vfs.LockOpen(f)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return takeBack(f, from, want)
}

// takeBack is TakeBack for a caller that has locked the file.
func takeBack(f *os.File, from, want int64) (bool, error) {
	if size, ok := sizeOf(f); !ok || size != want {
		return false, nil
	}
	// By its name: on Windows, a file that is opened to append has no right to be cut.
	err := os.Truncate(f.Name(), from)
	return err == nil, err
}

// sizeOf returns the size of a file, unless its name now names another one or none.
func sizeOf(f *os.File) (size int64, ok bool) {
	info, err := f.Stat()
	if err != nil {
		return 0, false
	}
	now, err := os.Stat(f.Name())
	return info.Size(), err == nil && os.SameFile(info, now)
}

// RemoveEmpty removes a file that OpenToAppend has opened if nothing is in it. The lock keeps an answer that
// another process appends: AppendLine comes before, or finds no file. An empty file that cannot be removed, as on
// Windows while it is open, harms nobody.
func RemoveEmpty(f *os.File) {
	unlock, err := vfs.LockOpen(f)
	if err != nil {
		return
	}
	if size, ok := sizeOf(f); ok && size == 0 {
		_ = os.Remove(f.Name())
	}
	_ = unlock()
}
