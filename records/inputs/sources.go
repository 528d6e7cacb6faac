package inputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/files"
)

// Options say how to interpret arguments.
type Options struct {
	Files   bool                 // each file is a document: walk folders and expand patterns
	Images  *records.PictureHash // files are pictures, found like Files and compared by this hash; or nil
	Exclude []string             // patterns of files to leave out, with the rules of .gitignore
	Hidden  bool                 // include files and folders whose names begin with a dot
}

// OfFiles reports whether each file is a document.
func (o Options) OfFiles() bool { return o.Files || o.Images != nil }

// Sources are the inputs of a job.
type Sources struct {
	Names  []string      // of the inputs, as the user gave them; with --files and --images the only one is the list
	Files  []string      // paths to read: Reread replaces files that cannot be read twice by copies
	AsRead []os.FileInfo // by Reread: state of the files that the user named, nil for copies
	Tree   *files.Tree   // for --files and --images, else nil
	Stored *Stored       // the database that is the only input, else nil
	Table  *Table        // documents in memory that are the only input, else nil
	Total  int64         // bytes of all inputs, 0 if unknown

	ctx      context.Context // cancels reads of pipes; or nil
	tally    *records.Tally
	before   int64           // bytes of the inputs that this pass has finished
	told     map[string]bool // inputs whose detected format the user knows
	numbered string          // the input whose ids are the positions of its records
	same     []string        // messages about names of a file that an earlier name denotes, too
}

// DB returns the database that is the only input, else nil.
func (s *Sources) DB() *engine.DB {
	if s.Stored == nil {
		return nil
	}
	return s.Stored.DB
}

// Piped reports whether the documents may arrive slowly, from a program that may wait for a
// reply.
func (s *Sources) Piped() bool { return s.Total == 0 && s.Stored == nil }

// A Table has documents in memory. Open starts reading them; Bytes is roughly their size.
type Table struct {
	Open  func(opt records.Options) (records.Source, error)
	Bytes int64
}

// TableSources returns the documents in memory that an argument names, nil if there are none.
func (e *Env) TableSources(arg string) *Sources {
	t, ok := e.Tables[arg]
	if !ok {
		return nil
	}
	return &Sources{Names: []string{arg}, Files: []string{arg}, Table: &t, Total: t.Bytes, tally: &records.Tally{}}
}

// New returns the inputs that arguments name: files and patterns of files, or with Options
// folders and files that are documents themselves. No output may replace any of these files.
func (e *Env) New(ctx context.Context, args []string, o Options) (*Sources, error) {
	if s := e.TableSources(args[0]); s != nil && !o.OfFiles() {
		return s, nil
	}
	if !o.OfFiles() {
		if len(o.Exclude) > 0 || o.Hidden {
			return nil, fmt.Errorf("%s and %s need %s or %s", option.Name("Exclude"), option.Name("Hidden"), option.Name("Files"), option.Name("Images"))
		}
		var names []string
		for _, arg := range args { // not every shell expands patterns
			found, err := files.Expand(arg, false)
			if err != nil {
				return nil, err
			}
			names = append(names, found...)
		}
		s, err := FileSources(names)
		if err != nil {
			return nil, err
		}
		for _, name := range s.Names { // including names that only a pattern has matched
			if name != "-" {
				err = cmp.Or(err, e.Uses(name, "an input file"))
			}
		}
		if err != nil {
			return nil, err
		}
		for _, text := range s.same {
			e.Say("%s", text)
		}
		s.ctx = ctx
		return s, nil
	}
	if o.Files && len(args) == 1 && manyDocuments(strings.ToLower(filepath.Ext(args[0]))) {
		e.Say("%s is read as one text; without %s each of its records is a document", args[0], option.Name("Files"))
	}
	list := files.ListOptions{Exclude: o.Exclude, Hidden: o.Hidden, Images: o.Images, Check: e.guard().CheckInput}
	tree, err := files.List(args, list)
	if err != nil {
		return nil, err
	}
	names := []string{tree.Name()}
	return &Sources{Names: names, Files: names, Tree: tree, Total: tree.Size(), tally: &records.Tally{}}, nil
}

// NewCollection is New for a job that also accepts a database, which the caller must close. New
// refuses a folder that is not a database, and a path that does not exist unless how.OrFile is set.
func (e *Env) NewCollection(ctx context.Context, args []string, o Options, how Access) (*Sources, error) {
	if o.OfFiles() || len(args) > 1 || e.TableSources(args[0]) != nil || NamesFiles(args[0]) {
		return e.New(ctx, args, o)
	}
	what, err := engine.Identifier()(args[0])
	if there := Exists(args[0]); err == nil && what == "" && !remoteTable(args[0]) && !IsSet(args[0]) && (there || !how.OrFile) {
		return e.New(ctx, args, o)
	}
	db, err := e.OpenStored(args[0], how)
	if err != nil {
		return nil, err
	}
	return db.Sources(), nil
}

// One returns an error if the argument of a command that reads a single file matches several.
func (s *Sources) One(arg string) error {
	if len(s.Names) > 1 {
		return fmt.Errorf("%s: %d files match, and this command reads one", arg, len(s.Names))
	}
	return nil
}

// FileSources returns inputs without --files. It checks that every file exists before the job
// starts. A file with several of the names is read once.
func FileSources(names []string) (*Sources, error) {
	s := &Sources{tally: &records.Tally{}}
	var seen files.Set
	known, stdin := true, 0
	for _, name := range names {
		if name == "-" {
			s.Names = append(s.Names, name)
			known = false
			if stdin++; stdin > 1 {
				return s, errors.New("standard input (-) can be read only once")
			}
			continue
		}
		st, err := place.Stat(context.Background(), name)
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, outfile.Cause(err))
		}
		if st.IsDir() {
			if what, err := engine.Identifier()(name); err == nil && what != "" {
				return s, fmt.Errorf("%s is %s, not a file with documents: a database must be the only input, without flags for files; load, match and join name the database first: join DB FILE", name, what)
			}
			return s, fmt.Errorf("%s is a folder; %s%s reads the files in it, each as a document", name, dataIn(name), option.Name("Files"))
		}
		if first, had := seen.Add(name, st); had && st.Mode().IsRegular() {
			s.same = append(s.same, fmt.Sprintf("%s and %s are the same file, which is read once", first, name))
			continue
		}
		s.Names = append(s.Names, name)
		known = known && st.Mode().IsRegular()
		s.Total += st.Size()
	}
	if !known {
		s.Total = 0
	}
	s.Files = s.Names
	return s, nil
}

// dataIn returns a hint for a folder: how to name its files if they contain many documents each
// (by the extension of the first such file, preferably one in the folder itself), or how to
// compare its pictures. It returns "" if the first files are of neither type.
func dataIn(folder string) (hint string) {
	const looked = 1000
	seen, pictures := 0, false
	filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > looked || err != nil {
			return fs.SkipAll
		}
		name, compressed := e.Name(), ""
		for _, c := range []string{".gz", ".zst"} {
			if whole, ok := strings.CutSuffix(name, c); ok {
				name, compressed = whole, c
			}
		}
		pictures = pictures || imagehash.HasExtension(name)
		ending := strings.ToLower(filepath.Ext(name))
		if e.IsDir() || !manyDocuments(ending) {
			return nil
		}
		pattern := filepath.Join(folder, "*"+ending+compressed)
		if filepath.Dir(path) == filepath.Clean(folder) {
			hint = pattern
			return fs.SkipAll
		}
		if hint == "" {
			hint = filepath.Join(folder, "**", "*"+ending+compressed)
		}
		return nil
	})
	if hint = filepath.ToSlash(hint); hint != "" && runtime.GOOS != "windows" {
		hint = "'" + hint + "'" // otherwise the shell treats ** as *
	}
	if hint != "" {
		return fmt.Sprintf("%s reads the documents of its files, ", hint)
	}
	if pictures {
		return option.Set("Images", "pdq") + " compares the pictures in it, "
	}
	return ""
}

// manyDocuments reports whether files with this extension contain many documents each. Files with
// .txt are single documents just as often.
func manyDocuments(ending string) bool {
	return ending != ".txt" && ending != ".text" && slices.ContainsFunc(records.Formats(), func(name string) bool {
		return slices.Contains(records.Format(name).Describe().Endings, ending)
	})
}

// ContentBytes returns the approximate size of the inputs after decompression, 0 if unknown.
func (s *Sources) ContentBytes() (n int64) {
	switch {
	case s.Stored != nil:
		return s.Stored.ContentBytes()
	case s.Tree != nil || s.Table != nil || s.Total == 0:
		return s.Total
	}
	for _, path := range s.Files {
		n += records.ContentBytes(path)
	}
	return n
}

// ErrChanged is the error for files that have changed since the first pass.
var ErrChanged = errors.New("the files were changed while they were read; nothing was written")

// Reread prepares the inputs for several passes. It copies standard input, and other files that
// cannot be read twice, to a folder.
func (e *Env) Reread(ctx context.Context, s *Sources, dir string) error {
	if s.Tree != nil || s.Stored != nil || s.Table != nil {
		return nil
	}
	s.Files, s.Total = nil, 0
	for i, name := range s.Names {
		var src place.File = os.Stdin
		if name != "-" {
			st, err := place.Stat(ctx, name)
			if err != nil {
				return err
			}
			if st.Mode().IsRegular() {
				s.Files, s.AsRead, s.Total = append(s.Files, name), append(s.AsRead, st), s.Total+st.Size()
				continue
			}
			if src, err = place.Open(ctx, name); err != nil {
				return err
			}
			defer src.Close()
		}
		path := filepath.Join(dir, fmt.Sprintf("input-%d", i))
		e.Report(engine.Progress{Stage: "read standard input"})
		n, err := copyTo(ctx, path, src)
		if err != nil {
			return err
		}
		s.Files, s.AsRead, s.Total = append(s.Files, path), append(s.AsRead, nil), s.Total+n
	}
	return nil
}

// copyTo copies an input to a new file until ctx is cancelled.
func copyTo(ctx context.Context, path string, src io.Reader) (int64, error) {
	to, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(to, pipeline.Reader(ctx, src))
	return n, errors.Join(err, to.Close())
}

// Unchanged returns an error if an input has changed since the run began: then the results of the
// first pass do not apply to the records of later passes.
func (s *Sources) Unchanged() error {
	for i, before := range s.AsRead {
		if before == nil {
			continue // our own copy
		}
		now, err := place.Stat(s.ctx, s.Files[i])
		if err != nil {
			return err
		}
		if !place.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
			return fmt.Errorf("%s: %w", s.Names[i], ErrChanged)
		}
	}
	return nil
}
