// Package vfstest has file systems for tests of what uses package vfs.
//
//	Mem       a file system in memory that knows what a power cut or a kill leaves of it
//	Faulty    any file system, with errors and short writes injected
//	SmallDisk a real one with room for little
//
// Mem implements the rules of package vfs at their strictest: whatever they allow to be lost can be
// lost (Mem.CrashClone), and every operation that changes something can be the last (Mem.CrashAt).
// Names in Mem are slash-separated paths.
//
// Only tests import this package; package layering checks that.
package vfstest
