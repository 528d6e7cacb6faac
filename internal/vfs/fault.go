package vfs

import "runtime/debug"

// Faults of mapped files are turned into errors. Reading a mapped file faults if the page cannot be
// read: because the file was truncated after it was mapped, or because its disk fails. Without a
// guard, a fault ends the process.
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
// Each type needs its own unguard, because recover works only in the deferred function itself, and
// its own blame, which knows the mappings of the type.

// A Fault is the panic of a guarded read that faulted.
type Fault interface {
	error
	Addr() uintptr // the address that was read
}

// A Failure is the panic of a guarded read of a mapping whose content is fetched when it is needed,
// if it could not be fetched.
type Failure struct{ Err error }

// Error returns the error of Err.
func (f *Failure) Error() string { return f.Err.Error() }

// Guard turns faults of this goroutine into panics. It returns the previous setting, for Restore.
func Guard() (before bool) { return debug.SetPanicOnFault(true) }

// Restore restores the setting before Guard.
func Restore(before bool) { debug.SetPanicOnFault(before) }

// Error converts a recovered fault by calling blame, and a recovered *Failure to its error. It panics
// again with p if p is neither, or if blame returns nil because the fault is outside the memory that
// the caller reads.
func Error(p any, blame func(Fault) error) error {
	if f, ok := p.(*Failure); ok {
		return f.Err
	}
	if f, ok := p.(Fault); ok {
		if err := blame(f); err != nil {
			return err
		}
	}
	panic(p)
}
