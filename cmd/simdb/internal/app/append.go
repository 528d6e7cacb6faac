package app

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// OpenToAppend opens a file of JSON lines to append lines to it, and creates it if there is none.
// The next line begins after a line end, even if an editor has left none.
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
		_, err = f.WriteString("\n")
	}
	return f, err
}
