//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

// Wait implements SharedMemory.
func (s *diskShared) Wait(word int, old uint64) { Poll(&s.Words()[word], old) }

// Wake implements SharedMemory: nobody sleeps for long.
func (s *diskShared) Wake(int) {}
