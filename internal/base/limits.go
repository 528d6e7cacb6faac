package base

// Limits of a document, as package engine documents them.
const (
	MaxIDBytes   = 65535    // an ID has 1 to MaxIDBytes bytes
	MaxTextBytes = 64 << 20 // text and fields together have at most MaxTextBytes bytes
)
