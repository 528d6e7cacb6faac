//go:build !unix

package repl

// giveSize does nothing: a console has a size.
func giveSize() {}
