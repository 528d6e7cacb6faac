//go:build !linux

package setjoin

// hugePages does nothing: other systems choose the sizes of pages themselves.
func hugePages[T any]([]T) {}
