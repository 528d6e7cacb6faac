package base

import (
	"errors"
	"fmt"
)

// ErrCorruption is matched by errors.Is for every error about damaged data.
var ErrCorruption = errors.New("corrupt data")

// CorruptionError says where stored data is damaged. It unwraps to ErrCorruption and to Err.
type CorruptionError struct {
	File    string // the file's name, as it was opened
	Section string // the part of the file: "footer", "records", "table 2", ...
	Offset  int64  // byte offset of the damaged unit in the file, -1 if there is none
	Err     error  // the cause
}

// Error names the file, the section, the offset and the reason.
func (e *CorruptionError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: corrupt %s: %v", e.File, e.Section, e.Err)
	}
	return fmt.Sprintf("%s: corrupt %s at offset %d: %v", e.File, e.Section, e.Offset, e.Err)
}

// Unwrap returns ErrCorruption and the cause.
func (e *CorruptionError) Unwrap() []error { return []error{ErrCorruption, e.Err} }

// Corruptf returns a *CorruptionError whose cause is formatted as by fmt.Errorf.
func Corruptf(file, section string, offset int64, format string, args ...any) error {
	return &CorruptionError{File: file, Section: section, Offset: offset, Err: fmt.Errorf(format, args...)}
}
