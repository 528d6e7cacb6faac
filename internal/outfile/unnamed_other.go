//go:build !linux

package outfile

import (
	"errors"
	"os"
)

// openUnnamed opens a file without a name, of which there are none on this system.
func openUnnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// link gives a file of openUnnamed its name.
func link(*os.File) error { return errors.ErrUnsupported }
