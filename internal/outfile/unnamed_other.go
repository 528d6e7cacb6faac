//go:build !linux

package outfile

import (
	"errors"
	"os"
)

// openUnnamed fails, because this system has no files without a name.
func openUnnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// link gives a file of openUnnamed its name.
func link(*os.File) error { return errors.ErrUnsupported }
