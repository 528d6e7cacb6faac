// Package files reads documents that are not rows of a table. It registers three formats with
// package records.
//
// "files" reads folders in which each file is a document: its path is the ID and its content the
// text. For HTML pages and mails, the text is extracted.
//
//	o := files.ListOptions{Exclude: []string{"*.log"}}
//	tree, err := files.List([]string{"notes", "src/**/*.md"}, o)
//	src, err := tree.Open(records.Options{})
//
// List walks the folders without reading file contents. Open returns a Source that reads the files
// sequentially, in the order of the list; a copy of its records is a list of paths.
//
// "mbox" reads mailboxes, where each message is a document, and "warc" reads web archives.
//
// The files of the package, from the bottom up:
//
//	ignore.go     patterns with the rules of .gitignore
//	list.go       the list of files, from arguments
//	page.go       the text of an HTML page
//	message.go    the text of a mail
//	pictures.go   the Source of a list of pictures
//	source.go     the Source of a list, and the registered format, which reads one file
//	container.go  the common part of the Sources of mailboxes and web archives
//	mbox.go       mailboxes
//	warc.go       web archives; warchttp.go decodes HTTP responses, warccut.go copies parts of texts
package files
