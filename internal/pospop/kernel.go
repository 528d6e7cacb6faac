package pospop

import "os"

// kernel is one implementation of the counting loops, chosen at run time. All of them give the same results. Its
// methods are switches, not function values, so that arguments need not escape to the heap.
type kernel int

// The kernels, in order of preference.
const (
	portable kernel = iota // pure Go
	avx2
	avx512
)

// String returns the name by which SIMDB_KERNEL asks for the kernel.
func (k kernel) String() string { return [...]string{"go", "avx2", "avx512"}[k] }

// active is the kernel in use, chosen once at start.
var active = choose(os.Getenv("SIMDB_KERNEL"))

// choose returns the kernel called name if this machine has it, and the fastest of this machine otherwise.
func choose(name string) kernel {
	ks := kernels()
	for _, k := range ks {
		if k.String() == name {
			return k
		}
	}
	return ks[0]
}

// Kernel returns the name of the kernel in use: "avx512", "avx2" or "go". The environment variable SIMDB_KERNEL, read
// at start, forces one that the machine has.
func Kernel() string { return active.String() }
