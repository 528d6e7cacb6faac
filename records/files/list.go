package files

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
)

// ListOptions select the files of a list.
type ListOptions struct {
	// Exclude has patterns in .gitignore syntax, relative to each folder that an argument names.
	// The last one that matches decides. Folders may have an IgnoreFile with further patterns.
	Exclude []string

	// Hidden includes files and folders whose names begin with a dot. Otherwise they are left out,
	// unless an argument names them.
	Hidden bool

	// Images, if not nil, makes the list one of pictures, and selects the hash of its records.
	// Files in folders are left out if neither the ending of their name nor their first bytes are
	// those of a picture.
	Images *records.PictureHash

	// Check, if not nil, is called for every file of the list; its error ends the listing.
	Check func(path string, info fs.FileInfo) error
}

// Tree is a list of files in reading order.
type Tree struct {
	name    string
	entries []entry
	size    int64   // of all files, in bytes
	left    []entry // what was found and is not in the list
	binary  []entry // files with zero bytes, set by the most recent Source

	images  *records.PictureHash // nil if the files are texts
	refused records.Counts       // by reason: pictures without a hash, set by the most recent Source
	poor    int64                // pictures whose hash has a low quality, set by the most recent Source
}

// entry is a file, or a file or folder that is not read. The path of a folder whose files are not
// read ends in a slash.
type entry struct {
	path   string
	reason string // why it is not read, or ""
	kind   string // the same in a word, if it is counted
	info   fs.FileInfo
}

// Left returns the files and folders that the most recent Source has found and not read, with the
// reasons, but not the files in such folders. counts has those that no option or convention omits.
func (t *Tree) Left() (left []records.Issue, counts records.Counts) {
	counts = records.Counts{}
	for _, e := range slices.Concat(t.left, t.binary) {
		left = append(left, records.Issue{File: records.ShownName(e.path), Reason: e.reason, Raw: []byte(e.path)})
		if e.kind != "" {
			counts[e.kind]++
		}
	}
	return left, counts
}

// fields returns the fields of a file and those of its content as a JSON object. Times are in UTC
// and have a fixed length, so that they compare as texts.
func (e entry) fields(content []byte) []byte {
	b := records.AppendString([]byte(`{"path":`), e.path)
	b = fmt.Appendf(b, `,"size":%d,"mtime":"%s"`, e.info.Size(), e.info.ModTime().UTC().Format("2006-01-02T15:04:05.000000Z"))
	if len(content) > len("{}") {
		b = append(append(b, ','), content[1:len(content)-1]...)
	}
	return append(b, '}')
}

// vcs are folders in which version control systems keep their data.
var vcs = []string{".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", "CVS"}

// List returns the files that args name: files, folders, which are walked in the order of names,
// and patterns such as "notes/**/*.md", unless a file has that name. A file that is named twice, or
// has two names, is listed once, at its first position. Symbolic links in args are followed, but
// not those within folders, so the walk neither leaves a folder nor runs in a circle. Databases and
// the folders of version control systems are left out.
func List(args []string, o ListOptions) (*Tree, error) {
	w := walker{o: o, tree: &Tree{name: "files", images: o.Images}, files: &Set{}}
	if len(args) == 1 {
		w.tree.name = args[0]
	}
	for _, p := range o.Exclude {
		r, ok, err := parseRule(p, "")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", option.Name("Exclude"), err)
		}
		if ok {
			w.exclude = append(w.exclude, r)
		}
	}
	for _, arg := range args {
		if err := w.argument(arg); err != nil {
			return nil, err
		}
	}
	return w.tree, nil
}

type walker struct {
	o       ListOptions
	tree    *Tree
	exclude []rule
	files   *Set // the files in the list
}

// argument adds the files that an argument names.
func (w *walker) argument(arg string) error {
	if arg == "-" {
		return fmt.Errorf("with %s and %s, - cannot be read: name files or folders", option.Name("Files"), option.Name("Images"))
	}
	names, err := Expand(arg, w.o.Hidden)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := w.named(name); err != nil {
			return err
		}
	}
	return nil
}

// Expand returns the paths that match an argument, sorted. It returns the argument itself if a file
// has this name, or if it is not a pattern. A part of a pattern matches hidden names if it begins
// with a dot, or if hidden is true. It is an error if nothing matches.
func Expand(arg string, hidden bool) ([]string, error) {
	// The name of a file may look like a pattern. On Windows, looking for such a name is an error.
	if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[{") || place.IsRemote(arg) && !place.Lists(arg) {
		return []string{arg}, nil
	}
	w, err := newWalk(arg)
	switch {
	case err != nil:
	case place.IsRemote(arg):
		err = w.remote(arg)
	default:
		err = w.folder("", 0)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	names := w.found
	if !hidden {
		names = slices.DeleteFunc(names, func(name string) bool { return newlyHidden(arg, name) })
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no file matches", arg)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// newlyHidden reports whether a path that matches a pattern has a hidden part that the pattern does
// not name.
func newlyHidden(pattern, name string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if isHidden(part) && !strings.Contains(pattern, part) {
			return true
		}
	}
	return false
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") && name != "." && name != ".." }

// named adds a file or folder that the user has named.
func (w *walker) named(path string) error {
	info, err := place.Stat(context.Background(), path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, outfile.Cause(err))
	}
	if !place.IsRemote(path) {
		path = filepath.ToSlash(filepath.Clean(path)) // lists and IDs have the same paths on every system
	}
	switch {
	case info.IsDir():
		if isDatabase(path) {
			return fmt.Errorf("%s is a database, not a folder of files", path)
		}
		return w.folder(path, "", w.exclude)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file nor a folder", path)
	case ignored(w.exclude, strings.TrimPrefix(path, "/"), false):
		return nil
	}
	return w.file(path, info)
}

// folder adds the files of a folder; rel is its path from the root of the walk.
func (w *walker) folder(path, rel string, rules []rule) error {
	list, err := os.ReadDir(path)
	if err != nil {
		w.unreadable(path, "the folder cannot be read: "+outfile.Cause(err).Error())
	}
	if slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == IgnoreFile }) {
		content, err := os.ReadFile(filepath.Join(path, IgnoreFile))
		if err != nil {
			return err
		}
		rules = append(slices.Clip(rules), parseIgnoreFile(string(content), rel)...)
	}
	if isMaildir(path) { // not in other folders of a Maildir, whose names begin with a dot
		list = slices.DeleteFunc(list, func(e fs.DirEntry) bool {
			name := filepath.Join(path, e.Name())
			return e.Name() != "cur" && e.Name() != "new" && !isMaildir(name) && w.leave(name, e.IsDir(), "", "not in a folder of delivered mails")
		})
	}
	for _, e := range list {
		if err := w.member(e, filepath.ToSlash(filepath.Join(path, e.Name())), filepath.ToSlash(filepath.Join(rel, e.Name())), rules); err != nil {
			return err
		}
	}
	return nil
}

// isMaildir reports whether a folder has one mail per file, in the folders cur and new. Mails in
// tmp are incomplete and are not read.
func isMaildir(path string) bool {
	for _, name := range []string{"cur", "new", "tmp"} {
		if info, err := os.Stat(filepath.Join(path, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// member adds an entry of a folder, unless it is left out.
func (w *walker) member(e fs.DirEntry, path, rel string, rules []rule) error {
	name, isDir := e.Name(), e.IsDir()
	switch {
	case name == IgnoreFile:
		w.leave(path, isDir, "", "patterns of files to leave out")
	case isHidden(name) && !w.o.Hidden && !isMaildir(path):
		w.leave(path, isDir, "", "its name begins with a dot; "+option.Name("Hidden")+" includes it")
	case isDir && slices.Contains(vcs, name):
		w.leave(path, isDir, "", "a folder of a version control system")
	case ignored(rules, rel, isDir):
		w.leave(path, isDir, "", "excluded by "+option.Name("Exclude")+" or "+IgnoreFile)
	case isDir && isDatabase(path):
		w.leave(path, isDir, "", "a database")
	case isDir:
		return w.folder(path, rel, rules)
	case e.Type()&fs.ModeSymlink != 0:
		w.leave(path, isDir, "symbolic link", "a symbolic link, which is not followed")
	case !e.Type().IsRegular():
		w.leave(path, isDir, "special file", "neither a file nor a folder")
	case w.o.Images != nil && !imagehash.HasExtension(name) && !beginsAsPicture(path):
		w.leave(path, isDir, cmp.Or(strings.ToLower(filepath.Ext(name)), "without an ending"), "not a picture")
	default:
		info, err := os.Lstat(path) // e.Info does not work with os.SameFile on all versions of Windows
		if err != nil {
			w.unreadable(path, outfile.Cause(err).Error())
			return nil
		}
		return w.file(path, info)
	}
	return nil
}

// leave notes that a file or folder is left out, and returns true.
func (w *walker) leave(path string, isDir bool, kind, reason string) bool {
	if path = filepath.ToSlash(path); isDir {
		path += "/"
	}
	w.tree.left = append(w.tree.left, entry{path: path, kind: kind, reason: reason})
	return true
}

// beginsAsPicture reports whether the first bytes of a file are those of a picture. A file that
// cannot be read counts as one, so that the error is reported.
func beginsAsPicture(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, imagehash.MagicBytes)
	n, _ := io.ReadFull(f, head)
	return imagehash.HasMagic(head[:n])
}

func isDatabase(path string) bool {
	what, err := engine.Identifier()(path)
	return err == nil && what != ""
}

func (w *walker) file(path string, info fs.FileInfo) error {
	if w.o.Check != nil {
		if err := w.o.Check(path, info); err != nil {
			return err
		}
	}
	if first, had := w.files.Add(path, info); had {
		if first != path {
			w.leave(path, false, "repeated name", "the same file as "+first)
		}
		return nil
	}
	w.tree.entries = append(w.tree.entries, entry{path: path, info: info})
	w.tree.size += info.Size()
	return nil
}

// unreadable adds a path that cannot be read, with the reason, unless it is in the list.
func (w *walker) unreadable(path, reason string) {
	if e := (entry{path: path, reason: reason}); !slices.Contains(w.tree.entries, e) {
		w.tree.entries = append(w.tree.entries, e)
	}
}

// Name returns the name of the list for messages: its argument if there is only one, otherwise
// "files".
func (t *Tree) Name() string { return t.name }

// Size returns the size of all files in bytes.
func (t *Tree) Size() int64 { return t.size }

// Pictures returns the number of files of a list of pictures, or 0 for other lists.
func (t *Tree) Pictures() int64 {
	if t == nil || t.images == nil {
		return 0
	}
	return int64(len(t.entries))
}

// Key identifies the list for the checkpoints of a load. Lists with other files or from another
// working directory have a different key, because their positions refer to other files.
func (t *Tree) Key() string {
	h := xxh3.New()
	dir, _ := os.Getwd()
	for _, e := range t.entries {
		h.WriteString(dir)
		h.WriteString("\x00")
		h.WriteString(e.path)
		h.WriteString("\x00")
	}
	sum := h.Sum128().Bytes()
	return "files:" + hex.EncodeToString(sum[:])
}

// poorNote says how to find the pictures with a hash of low quality.
const poorNote = ", which may match by chance (in a database: quality < 50 SHOW path lists them, DELETE WHERE quality < 50 removes them)"

// Skipped describes pictures that the most recently read Source could not hash well, or returns "".
func (t *Tree) Skipped() (text string) {
	if t.poor > 0 {
		text = quantity.Count(t.poor, "picture") + " with a hash of low quality" + poorNote
	}
	if len(t.refused) > 0 {
		text = strings.TrimPrefix(text+"; pictures without a hash, compared only for equality: "+t.refused.String(), "; ")
	}
	return text
}
