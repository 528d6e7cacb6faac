package pospop

import "os"

// kernel is one implementation of the counting loops. All of them give the same results.
type kernel struct {
	name string
	// count adds the positional counts of the words of x.
	count func(counts *[64]uint32, x []uint64)
	// countMixed adds the positional counts of mix(h+add) for every h in x.
	countMixed func(counts *[64]uint32, x []uint64, add uint64)
}

// generic is the kernel in pure Go, which runs everywhere.
var generic = kernel{name: "go", count: countGeneric, countMixed: countMixedGeneric}

// active is the kernel in use, chosen once at start.
var active = choose(os.Getenv("SIMDB_KERNEL"))

// choose returns the kernel called name if this machine has it, and the fastest of this machine otherwise.
func choose(name string) kernel {
	ks := kernels()
	for _, k := range ks {
		if k.name == name {
			return k
		}
	}
	return ks[0]
}

// Kernel returns the name of the kernel in use: "avx512", "avx2" or "go". The environment variable SIMDB_KERNEL, read
// at start, forces one that the machine has.
func Kernel() string { return active.name }
