package sstable

import (
	"unsafe"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// Methods of a Reader that read its mapped file make errors of faults, which name the file, the
// section and the offset:
//
//	defer r.unguard(guard(), &err)
//
// What they return may alias the file: the caller guards its use, as View.Safely of the engine
// does.

// guard makes faults of this goroutine panics and returns what unguard needs to undo that.
func guard() bool { return vfs.Guard() }

// unguard recovers from a fault in the mapped file and sets err to it. Deferred.
func (r *Reader) unguard(before bool, err *error) {
	vfs.Restore(before)
	if p := recover(); p != nil {
		*err = vfs.Error(p, r.blame)
	}
}

// unguardAny is unguard for a function that reads several tables.
func unguardAny(tables []*Reader, before bool, err *error) {
	vfs.Restore(before)
	if p := recover(); p != nil {
		*err = vfs.Error(p, func(f vfs.Fault) error {
			for _, r := range tables {
				if err := r.blame(f); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// blame returns the error for a fault, nil if it is outside the mapping.
func (r *Reader) blame(f vfs.Fault) error {
	at, ok := offsetIn(r.data, f.Addr())
	if !ok {
		return nil
	}
	name := "footer"
	for _, s := range r.info.Sections {
		if at >= s.Offset && at < s.Offset+s.Length {
			name = s.Name()
		}
	}
	return base.Corruptf(r.file, name, at, "the file can't be read here: %w", f)
}

// offsetIn returns where in data an address is, and whether it is there at all.
func offsetIn(data []byte, addr uintptr) (int64, bool) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	return int64(addr - start), addr >= start && addr-start < uintptr(len(data))
}
