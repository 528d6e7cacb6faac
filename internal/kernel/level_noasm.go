//go:build !amd64 || purego

package kernel

// highest returns the highest level that the processor supports.
func highest() Level { return Go }
