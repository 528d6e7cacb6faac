//go:build (!amd64 && !arm64) || purego

package kernel

// highest returns Go, the only level without assembly.
func highest() Level { return Go }
