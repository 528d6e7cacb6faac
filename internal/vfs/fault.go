package vfs

import "runtime/debug"

// Faults of mapped files are turned into errors. A load from a mapped file faults if the page can't
// be read: the file has been cut short since it was mapped, or its disk fails. Without a guard that
// is the end of the process.
//
//	func (r *Reader) Get() (err error) {
//		defer r.unguard(vfs.Guard(), &err)
//		...
//	}
//
//	func (r *Reader) unguard(before bool, err *error) {
//		vfs.Restore(before)
//		if p := recover(); p != nil {
//			*err = vfs.Error(p, r.blame)
//		}
//	}
//
// Each type has its own unguard, because recover works only in the function that is deferred, and
// its own blame, because it knows what is mapped where.

// A Fault is the panic of a guarded load that faulted.
type Fault interface {
	error
	Addr() uintptr // of the load
}

// Guard makes faults of this goroutine panics. It returns the setting before, for Restore.
func Guard() (before bool) { return debug.SetPanicOnFault(true) }

// Restore ends what Guard began.
func Restore(before bool) { debug.SetPanicOnFault(before) }

// Error returns what blame makes of a recovered fault. It panics again with p if p is no fault, or
// if blame returns nil: then the fault is not in what the caller reads.
func Error(p any, blame func(Fault) error) error {
	if f, ok := p.(Fault); ok {
		if err := blame(f); err != nil {
			return err
		}
	}
	panic(p)
}
