package wal

import "bytes"

// IsLog reports whether a file that starts with prefix looks like a log.
func IsLog(prefix []byte) bool { return bytes.HasPrefix(prefix, []byte(magic)) }
