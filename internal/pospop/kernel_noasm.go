//go:build !amd64

package pospop

// kernels returns the kernels of this machine, fastest first.
func kernels() []kernel { return []kernel{generic} }
