package sstable

import (
	"runtime/debug"
	"unsafe"

	"github.com/simdb/simdb/internal/base"
)

// A load from a mapped file faults where the file has been cut short since, or can't be read from
// its disk. Methods of a Reader turn that into their error instead of the end of the process:
//
//	defer r.unguard(guard(), &err)

// guard makes faults of this goroutine panics and returns what unguard needs to undo that.
func guard() bool { return debug.SetPanicOnFault(true) }

// unguard recovers from a fault in the mapped file and sets err to it. Deferred.
func (r *Reader) unguard(old bool, err *error) {
	debug.SetPanicOnFault(old)
	if p := recover(); p != nil {
		*err = r.faultError(p)
	}
}

// unguardAny is unguard for a function that reads several tables.
func unguardAny(tables []*Reader, old bool, err *error) {
	debug.SetPanicOnFault(old)
	p := recover()
	if p == nil {
		return
	}
	if fault, ok := p.(interface{ Addr() uintptr }); ok {
		for _, r := range tables {
			if _, inside := offsetIn(r.data, fault.Addr()); inside {
				*err = r.faultError(p)
				return
			}
		}
	}
	panic(p)
}

// faultError returns the error for a recovered fault inside the mapping, and panics again with
// anything else.
func (r *Reader) faultError(p any) error {
	fault, ok := p.(interface {
		error
		Addr() uintptr
	})
	if !ok {
		panic(p)
	}
	at, ok := offsetIn(r.data, fault.Addr())
	if !ok {
		panic(p)
	}
	name := "footer"
	for _, s := range r.info.Sections {
		if at >= s.Offset && at < s.Offset+s.Length {
			name = s.Name()
		}
	}
	return base.Corruptf(r.file, name, at, "the file can't be read here: %w", fault)
}

// offsetIn returns where in data an address is, and whether it is there at all.
func offsetIn(data []byte, addr uintptr) (int64, bool) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	return int64(addr - start), addr >= start && addr-start < uintptr(len(data))
}
