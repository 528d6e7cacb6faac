package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/parquet"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// GlobalFlags are accepted by every command.
type GlobalFlags struct {
	Progress    string        `enum:"auto,plain,json,none" default:"auto" placeholder:"MODE" help:"Show progress on standard error: auto (a bar on a terminal, after one second), plain, json or none."`
	BusyTimeout time.Duration `default:"5s" placeholder:"TIME" help:"How long to wait while another process is writing (default: 5s)."`
	Quiet       bool          `short:"q" help:"Print no summaries and no warnings."`
}

// FileFlags select files that are documents.
type FileFlags struct {
	WholeFiles   bool            `group:"input" name:"files" help:"Each file is one document: its path is the id, its content the text. Folders are walked, and patterns such as 'docs/**/*.md' are expanded."`
	Images       *imagehash.Kind `group:"input" placeholder:"KIND" help:"The files are pictures (JPEG, PNG, GIF, WebP, BMP, TIFF, ICO), found as with --files and compared by a perceptual hash: pdq or dhash256 (256 bits), dhash or phash (64 bits). Without --near, at most 31 of 256 bits or 8 of 64 may differ."`
	Orientations string          `group:"input" enum:"1,8" default:"1" placeholder:"N" help:"8 also compares pictures rotated and mirrored (--images): the nearest hashes of the eight orientations count (default: 1)."`
	Exclude      []string        `group:"input" sep:"none" placeholder:"PATTERN" help:"Skip files that match, by the rules of .gitignore (--files, --images). Can be repeated; a .simdbignore file in a folder adds patterns."`
	Hidden       bool            `group:"input" help:"Include files and folders whose names begin with a dot (--files, --images)."`
}

// OfFiles reports whether each file is a document.
func (f FileFlags) OfFiles() bool { return f.WholeFiles || f.Images != nil }

// DefaultJaccard is the criterion of commands without a criterion flag.
const DefaultJaccard Share = dedup.DefaultJaccard

// DefaultCriterion sets --jaccard for a command that needs a criterion and has none.
// [CriterionFlags.Settle] may still change it.
func DefaultCriterion(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if flag.Name != "jaccard" || !flag.Required || givenCriterion(ctx) {
		return nil, nil
	}
	return strconv.FormatFloat(float64(DefaultJaccard), 'g', -1, 64), nil
}

// givenCriterion reports whether the arguments have a criterion.
func givenCriterion(ctx *kong.Context) bool {
	return slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool {
		return p.Flag != nil && !p.Resolved && p.Flag.Group != nil && p.Flag.Group.Key == "criterion" && len(p.Flag.Xor) > 0 && p.Flag.Xor[0] == "criterion"
	})
}

// AfterApply records whether the criterion is the default.
func (f *CriterionFlags) AfterApply(ctx *kong.Context) error {
	f.byDefault = !givenCriterion(ctx)
	return nil
}

// ByDefault reports whether the user gave no criterion.
func (f *CriterionFlags) ByDefault() bool { return f.byDefault }

// Settle replaces a default criterion by the default for pictures or for the database, which may be
// nil. It prints the criterion, unless the command prints it anyway.
func (f *CriterionFlags) Settle(a *App, db *engine.DB, images *imagehash.Kind) {
	if !f.byDefault {
		return
	}
	by := dedup.DefaultOf(db, images)
	m := dedup.MeasuresOf(by)
	switch f.Near, f.Jaccard = (*Distance)(m.Near), (*Share)(m.Jaccard); {
	case images != nil:
	case f.Near != nil:
		a.Say("near-duplicates: %s (--near %d, the default for %s hashes)", Meaning(by), *f.Near, db.Options().Features.Code)
	default:
		a.Say("near-duplicates share %s of their shingles (--jaccard %g, the default)", f.Jaccard.Percent(), *f.Jaccard)
	}
}

// PicturesMeaning says in words what makes two pictures near-duplicates.
func PicturesMeaning(k imagehash.Kind, near int) string {
	m := fmt.Sprintf("at most %d of the %d bits of their %s hashes differ", near, k.Bits(), k)
	if near == k.Near() {
		m += ", the default"
	}
	return m
}

// PictureNote returns the words about pictures that commands add to the number of files read, or "".
func (f FileFlags) PictureNote(near *Distance) string {
	if f.Images == nil || near == nil {
		return ""
	}
	return "; pictures match if " + PicturesMeaning(*f.Images, int(*near))
}

// ImagesName returns the name of the hash of pictures, or "" for none.
func (f FileFlags) ImagesName() string {
	if f.Images == nil {
		return ""
	}
	return f.Images.String()
}

// InputFlags select the documents and describe their form.
type InputFlags struct {
	FileFlags
	ReadFlags
}

// ReadFlags describe the form of documents.
type ReadFlags struct {
	IDField          string         `group:"input" placeholder:"NAME" help:"Field with the id: a name, or a number in files with columns; meta.id is the field id of the object meta (default: id)."`
	IDFrom           records.IDFrom `group:"input" name:"id-from" placeholder:"WHAT" help:"Make ids instead of reading them: hash, a hash of the text, or line, as FILE:LINE."`
	TextField        string         `group:"input" placeholder:"NAME,..." help:"Field with the text, or several fields, which are joined as lines; messages[].content and parts.* lead into lists and objects (default: text)."`
	Records          string         `group:"input" placeholder:"PATH" help:"Path of the records in a json file, such as data or result.items: the elements of a list or the members of an object; . is the whole file."`
	RecordStart      string         `group:"input" placeholder:"REGEX" help:"In plain text a record begins where a line matches this regular expression (RE2), such as '^%', and ends before the next such line (default: each line is a record)."`
	FingerprintField string         `group:"input" placeholder:"NAME" help:"Field with the fingerprint, if the file has fingerprints (default: fingerprint)."`
	NoHeader         bool           `group:"input" help:"The first line of a csv or tsv file is data; the fields are 1 (id) and 2 (text)."`

	Encoding     records.Encoding `group:"input" placeholder:"NAME" help:"Encoding of the text, by any IANA name, such as latin1, windows-1251, shift_jis, gb18030 or utf-16le (default: utf-8, or utf-16 with a byte order mark). In mails and pages, it applies only to those that do not name their own."`
	Fingerprints base.Notation    `group:"input" default:"auto" placeholder:"NOTATION" enum:"auto,hex,decimal,binary,base64" help:"Notation of fingerprints: hex, decimal, binary, or base64 of the bytes (default: detected, except base64; a file that mixes hexadecimal and decimal is refused)."`
	Delimiter    delimiter        `group:"input" placeholder:"C" help:"Separator of the columns of a csv file: a character such as ; or the word tab (default: a comma)."`
	Comment      comment          `group:"input" placeholder:"C" help:"Lines of a csv or tsv file that begin with this character, such as #, are comments: neither read nor copied."`
}

// Where returns the options for resolving the arguments.
func (f InputFlags) Where() inputs.Options {
	return inputs.Options{Files: f.WholeFiles, Images: f.Images, Exclude: f.Exclude, Hidden: f.Hidden}
}

// Check returns an error if flags contradict each other.
func (f InputFlags) Check() error {
	switch {
	case f.IDField != "" && f.IDFrom != "":
		return fmt.Errorf("%s and %s contradict each other", option.Name("IDField"), option.Name("IDFrom"))
	case f.Orientations == "8" && f.Images == nil:
		return errors.New("--orientations needs --images")
	}
	return nil
}

// PageInputFlags are InputFlags and the flags about reading pages.
type PageInputFlags struct {
	InputFlags
	HTML string `group:"input" name:"html" enum:"pages,text,raw" default:"pages" placeholder:"HOW" help:"What to compare of HTML: the visible text of pages (pages), also of HTML in the text field of records (text), or everything with its markup (raw) (default: pages)."`
}

// Options returns the options to read files.
func (f PageInputFlags) Options(format records.Format) records.Options {
	o := f.InputFlags.Options(format)
	o.HTML = f.HTML
	return o
}

type comment byte

// UnmarshalText parses a character.
func (c *comment) UnmarshalText(text []byte) error {
	b, err := records.ParseComment(string(text))
	*c = comment(b)
	return err
}

// delimiter is the separator of columns.
type delimiter byte

// UnmarshalText parses a delimiter.
func (d *delimiter) UnmarshalText(text []byte) error {
	c, err := records.ParseDelimiter(string(text))
	*d = delimiter(c)
	return err
}

// InputFormat is the format of inputs. In every command, --format is the format of outputs.
type InputFormat struct {
	InputFormat records.Format `group:"input" name:"input-format" default:"auto" placeholder:"FORMAT" help:"Format of the files: ${inputs} (default: by name and content)."`
}

// TakeOld accepts --format as the format of inputs in a command that writes no rows.
func (f *InputFormat) TakeOld(a *App, format records.Format) {
	if f.InputFormat = cmp.Or(f.InputFormat, format); format != records.Auto {
		a.Say("note: --input-format %s sets the format of inputs; --format sets that of outputs", format)
	}
}

// CopyInputFormat is InputFormat for commands that copy or store their input, and write no rows.
type CopyInputFormat struct {
	InputFormat
	Format records.Format `hidden:"" default:"auto" help:"The same as --input-format."`
}

// Named returns the format that the user named.
func (f *CopyInputFormat) Named(a *App) records.Format {
	f.TakeOld(a, f.Format)
	f.Format = records.Auto // so that the note appears once
	return f.InputFormat.InputFormat
}

// RowInputFlags are InputFlags and the input format, for commands where --format is the format of
// rows.
type RowInputFlags struct {
	InputFormat
	PageInputFlags
}

// Options returns the options to read files.
func (f RowInputFlags) Options() records.Options {
	return f.PageInputFlags.Options(f.InputFormat.InputFormat)
}

// Options returns the options to read files.
func (f InputFlags) Options(format records.Format) records.Options {
	return records.Options{
		Format: format, IDField: f.IDField, TextField: f.TextField, Records: f.Records, RecordStart: f.RecordStart, FingerprintField: f.FingerprintField,
		NoHeader: f.NoHeader, Fingerprints: f.Fingerprints, Delimiter: byte(f.Delimiter), Comment: byte(f.Comment), IDFrom: f.IDFrom, Encoding: f.Encoding,
		Orientations: f.Orientations == "8",
	}
}

// SummaryFlag sets the form of a command's summary.
type SummaryFlag struct {
	Summary string `group:"run" enum:"text,json" default:"text" placeholder:"HOW" help:"Format of the final counts on standard error: text, or json (one object on a line) (default: text)."`
}

// A Figure is a number in a summary, or a list that is encoded as JSON.
type Figure struct {
	Name  string
	Value any
}

// Tell reports whether the flag is set to JSON. If so, Tell has written the figures and the seconds
// since start as an object; if not, the caller writes the summary as text.
func (f SummaryFlag) Tell(a *App, start time.Time, figures ...Figure) bool {
	if f.Summary != "json" {
		return false
	}
	b := []byte{'{'}
	for _, g := range figures {
		value, _ := json.Marshal(g.Value) // numbers and texts cannot fail
		b = fmt.Appendf(b, "%q:%s,", g.Name, value)
	}
	fmt.Fprintf(a.Err, "%s\"seconds\":%.3f}\n", b, time.Since(start).Seconds())
	return true
}

// NullFlag is --null of commands that copy records.
type NullFlag struct {
	Null bool `group:"output" short:"0" help:"End each path with a zero byte instead of a newline, as xargs -0 reads it (--files, --images)."`
}

// MemoryFlag limits the memory for the results of a query.
type MemoryFlag struct {
	Memory queryMemory `default:"1GiB" placeholder:"SIZE" help:"Memory for results while they are sorted; a query that needs more fails (default: 1GiB)."`
}

// CacheFlag sets the size of the cache of an open database.
type CacheFlag struct {
	Cache CacheSize `placeholder:"SIZE" help:"Memory for decompressed texts and fields that may be read again; 0 for none (default: a 64th of the machine's memory, from 8MiB to 256MiB, and at most a quarter of --memory)."`
}

// Bytes returns the memory that a cache of the given size needs in addition to --memory.
func (f CacheFlag) Bytes() int64 { return max(int64(f.Cache), 0) }

// KeepTo makes the garbage collector respect a --memory. Buffers, code and stacks of the process
// come on top. Concurrent runs share the sum of their limits. The returned function removes the
// limit.
func KeepTo(memory int64) (undo func()) {
	kept.change(memory, 1)
	return func() { kept.change(-memory, -1) }
}

// kept holds the limits of all runs.
var kept keeping

type keeping struct {
	mu           sync.Mutex
	runs, memory int64
	before       int64 // the limit without runs
}

func (k *keeping) change(memory, runs int64) {
	const least = 64 << 20
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs == 0 {
		k.before = debug.SetMemoryLimit(-1)
	}
	limit := k.before
	if k.runs, k.memory = k.runs+runs, k.memory+memory; k.runs > 0 {
		limit = min(limit, max(k.memory/8*7, least))
	}
	debug.SetMemoryLimit(limit)
}

// RowFlags set the form and the destination of rows.
type RowFlags struct {
	Format   RowFormat `group:"rows" placeholder:"FORMAT" help:"${formats} (default: table on a terminal, tsv elsewhere)."`
	Header   bool      `group:"rows" help:"Begin tsv with the names of the columns, as on a terminal."`
	CSVGuard bool      `group:"rows" name:"csv-guard" help:"Put an apostrophe before csv cells that a spreadsheet would evaluate as a formula (= + - @)."`
	Output   string    `group:"rows" short:"o" file:"rows" placeholder:"FILE" help:"Write the rows to FILE instead of standard output; .csv, .jsonl, .json, .tsv and .parquet set the format, .gz or .zst after that compresses the output."`
}

// RowFormat is an output.Format, or none.
type RowFormat struct {
	output.Format
	Set bool
}

// UnmarshalText parses the name of a format.
func (f *RowFormat) UnmarshalText(text []byte) (err error) {
	f.Format, err = output.ParseFormat(string(text))
	f.Set = true
	return err
}

// Choices returns the names of the formats.
func (RowFormat) Choices() []string { return output.Formats() }

// Options returns the options to write rows to standard output, or to the file of -o.
func (f RowFlags) Options() output.Options {
	o := output.Options{Format: output.TSV}
	if outfile.IsStdout(cmp.Or(f.Output, "-")) {
		o = output.Detect(os.Stdout)
	} else if named, ok := output.FormatOf(outfile.PlainName(f.Output)); ok {
		o.Format = named
	}
	if f.Format.Set {
		o.Format = f.Format.Format
	}
	o.CSVGuard, o.Header, o.Parquet = f.CSVGuard, f.Header, parquet.New
	return o
}

// parquetEndings are the extensions of Parquet files.
var parquetEndings = []string{".parquet", ".pq"}

// Kind returns the kind of the output file for outfile.Guard.
func (f RowFlags) Kind() outfile.Kind {
	if f.Options().Format == output.Parquet {
		return outfile.WholeOf("Parquet", parquetEndings...)
	}
	if f.Format.Set {
		return outfile.AnyRows
	}
	return outfile.Rows
}

// RejectFlags set what happens to invalid records.
type RejectFlags struct {
	Rejects   string     `group:"input" file:"rejects" placeholder:"FILE" help:"Write input that is not a record, such as broken JSON, byte for byte to FILE (default: beside the output, as OUTPUT.rejects.jsonl or with another ending; nowhere if the output is standard output)."`
	MaxErrors *lineCount `group:"input" placeholder:"N" help:"Allow N rejects, and stop at the next one (default: do not stop, but end with exit status 2 if there are any)."`
}

// Options returns the options for invalid records.
func (f RejectFlags) Options() inputs.RejectOptions {
	return inputs.RejectOptions{File: f.Rejects, MaxErrors: (*int64)(f.MaxErrors)}
}
