// Package files reads documents that are not rows of a table. It registers three formats with
// package records.
//
// "files" is folders of files, each of which is a document: its path is the ID, its content the
// text, which is that of HTML pages and of mails too.
//
//	o := files.ListOptions{Exclude: []string{"*.log"}}
//	tree, err := files.List([]string{"notes", "src/**/*.md"}, o)
//	src, err := tree.Open(input.Options{})
//
// List walks the folders and reads no content. Open returns a Source that reads the files one after
// the other, in the order of the list; a copy of its records is a list of paths.
//
// "mbox" is mailboxes, whose messages are documents, and "warc" is web archives.
//
// The files of the package, from the bottom up:
//
//	ignore.go     patterns with the rules of .gitignore
//	list.go       the list of files, from arguments
//	page.go       the text of an HTML page
//	message.go    the text of a mail
//	pictures.go   the Source of a list of pictures
//	source.go     the Source of a list, and the registered format, which reads one file
//	container.go  what the Sources of mailboxes and web archives have in common
//	mbox.go       mailboxes
//	warc.go       web archives; warchttp.go has responses of HTTP, warccut.go parts of texts
package files
