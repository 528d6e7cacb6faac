package records

import (
	"fmt"
	"os"

	"github.com/simdb/simdb/internal/vfs"
)

// TooLarge is what is wrong with a record of this size.
func TooLarge(size int64) string {
	return fmt.Sprintf("too large: %d bytes, a document has at most %d", size, MaxRecord)
}

// Oversize takes the bytes of a record larger than MaxRecord. They go to a temporary file, so that
// an Issue has all of them, and memory none.
type Oversize struct {
	file *os.File
	size int64
	err  error
}

// NewOversize returns an Oversize for a record that begins so.
func NewOversize(begin []byte) *Oversize {
	o := &Oversize{}
	o.file, o.err = vfs.Temp("", "simdb-input-*")
	o.Write(begin)
	return o
}

// Write takes what comes next. It returns no error: one of the temporary file is in the Issue.
func (o *Oversize) Write(p []byte) (int, error) {
	o.size += int64(len(p))
	if o.err == nil {
		_, o.err = o.file.Write(p)
	}
	return len(p), nil
}

// Size is how many bytes there are.
func (o *Oversize) Size() int64 { return o.size }

// Complete gives the record to an Issue, which is about a document of this size.
func (o *Oversize) Complete(is *Issue, size int64) {
	is.Reason, is.Size = TooLarge(size), o.size
	if o.err != nil {
		is.Reason += fmt.Sprintf("; it is not copied: %v", o.err)
		return
	}
	is.whole, o.file = o.file, nil
}

// Close forgets the record, if no Issue has it.
func (o *Oversize) Close() {
	if o != nil {
		vfs.RemoveTemp(o.file)
	}
}

// Bytes returns the whole record, also one that is larger than MaxRecord, nil if that could not be
// kept. It can be called once; done ends the use of the bytes.
func (i *Issue) Bytes() (raw []byte, done func(), err error) {
	switch {
	case i.whole != nil:
		raw, unmap, err := vfs.Map(i.whole)
		return raw, func() {
			if unmap != nil {
				unmap()
			}
			vfs.RemoveTemp(i.whole)
		}, err
	case i.Size > int64(len(i.Raw)):
		return nil, func() {}, nil
	}
	return i.Raw, func() {}, nil
}
