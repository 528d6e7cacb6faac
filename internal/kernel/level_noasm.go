//go:build !amd64 || purego

package kernel

// highest returns Go, the only level without assembly.
func highest() Level { return Go }
