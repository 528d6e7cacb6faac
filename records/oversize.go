package records

import (
	"fmt"
	"os"

	"github.com/simdb/simdb/internal/vfs"
)

// TooLarge returns the reason of an Issue for a record of this size in bytes.
func TooLarge(size int64) string {
	return fmt.Sprintf("too large: %d bytes; the limit of a document is %d", size, MaxRecord)
}

// Oversize writes the bytes of a record larger than MaxRecord to a temporary file, so that an Issue
// can return the whole record without holding it in memory.
type Oversize struct {
	file *os.File
	size int64
	err  error
}

// NewOversize returns an Oversize for a record that begins with these bytes.
func NewOversize(begin []byte) *Oversize {
	o := &Oversize{}
	o.file, o.err = vfs.Temp("", "simdb-input-*")
	o.Write(begin)
	return o
}

// Write appends to the record. It returns no error: the Issue reports an error of the temporary
// file.
func (o *Oversize) Write(p []byte) (int, error) {
	o.size += int64(len(p))
	if o.err == nil {
		_, o.err = o.file.Write(p)
	}
	return len(p), nil
}

// Size returns the number of bytes written.
func (o *Oversize) Size() int64 { return o.size }

// Complete gives the record to an Issue. size is the size of the document that the reason states.
func (o *Oversize) Complete(is *Issue, size int64) {
	is.Reason, is.Size = TooLarge(size), o.size
	if o.err != nil {
		is.Reason += fmt.Sprintf("; it is not copied: %v", o.err)
		return
	}
	is.whole, o.file = o.file, nil
}

// Close deletes the record, unless an Issue owns it.
func (o *Oversize) Close() {
	if o != nil {
		vfs.RemoveTemp(o.file)
	}
}

// Bytes returns the whole record, even if it is larger than MaxRecord, or nil if its temporary file
// could not be written. Bytes may be called once; the bytes are valid until done is called.
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
