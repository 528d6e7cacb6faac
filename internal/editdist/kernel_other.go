//go:build !amd64 || purego

package editdist

// eight computes the next eight columns of a band, and returns false if it cannot.
func (k kernel) eight(b *band, columns []rune) bool { return false }
