// Package vfstest has file systems for tests of packages that use package vfs.
//
//	Mem       a file system in memory that simulates power cuts and killed processes
//	Faulty    any file system, with errors and short writes injected
//	SmallDisk a real one with little space
//
// Mem implements the strictest reading of package vfs's rules: all data that may be lost can be
// lost (Mem.CrashClone), and every operation that changes something can be the last (Mem.CrashAt).
// Names in Mem are slash-separated paths.
//
// Only tests import this package; package layering checks that.
package vfstest
