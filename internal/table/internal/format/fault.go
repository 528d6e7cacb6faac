package format

import (
	"unsafe"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// Functions that read a mapped file turn faults into errors that name the file, the section and the
// offset:
//
//	defer t.Unguard(table.Guard(), &err)
//
// Their results may alias the file: then the caller must guard the use of the results, as
// View.Safely of the engine does.

// Guard makes faults of this goroutine panics. Its result is for Unguard, which undoes this.
func Guard() bool { return vfs.Guard() }

// Unguard recovers from a fault in the mapped file and sets err to it. It must be deferred.
func (r *Table) Unguard(before bool, err *error) {
	vfs.Restore(before)
	if p := recover(); p != nil {
		*err = vfs.Error(p, r.blame)
	}
}

// UnguardAny is Table.Unguard for a function that reads several tables. It must be deferred.
func UnguardAny(tables []*Table, before bool, err *error) {
	vfs.Restore(before)
	if p := recover(); p != nil {
		*err = FaultIn(p, tables...)
	}
}

// FaultIn returns the error for a panic p that a function that reads several tables has recovered.
func FaultIn(p any, tables ...*Table) error {
	return vfs.Error(p, func(f vfs.Fault) error {
		for _, r := range tables {
			if err := r.blame(f); err != nil {
				return err
			}
		}
		return nil
	})
}

// blame returns the error for a fault, nil if it is outside the mapping.
func (r *Table) blame(f vfs.Fault) error {
	at, ok := offsetIn(r.Data, f.Addr())
	if !ok {
		return nil
	}
	name := "footer"
	for _, s := range r.Info.Sections {
		if at >= s.Offset && at < s.Offset+s.Length {
			name = s.Name()
		}
	}
	return base.Corruptf(r.File, name, at, "the file can't be read here: %w", f)
}

// offsetIn returns the offset of an address in data, and whether the address is in data.
func offsetIn(data []byte, addr uintptr) (int64, bool) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	return int64(addr - start), addr >= start && addr-start < uintptr(len(data))
}
