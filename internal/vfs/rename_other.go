//go:build !linux

package vfs

import "errors"

// renameNew says that this system has no such call.
func renameNew(_, _ string) error { return errors.ErrUnsupported }
