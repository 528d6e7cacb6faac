// Package files reads folders of files, each of which is a document: its path is the ID, its
// content the text. It registers the format "files" with package input.
//
//	o := files.ListOptions{Exclude: []string{"*.log"}}
//	tree, err := files.List([]string{"notes", "src/**/*.md"}, o)
//	src, err := tree.Open(input.Options{})
//
// List walks the folders and reads no content. Open returns a Source that reads the files one after
// the other, in the order of the list; a copy of its records is a list of paths.
//
// The files of the package, from the bottom up:
//
//	ignore.go    patterns with the rules of .gitignore
//	list.go      the list of files, from arguments
//	source.go    the Source of a list, and the registered format, which reads one file
package files
