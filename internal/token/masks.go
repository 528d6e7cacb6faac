package token

// masks is the kernel for the masks of word bytes: see masksGo.
func masks(dst []uint64, text *window) int { return masksGo(dst, text) }
