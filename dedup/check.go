package dedup

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records/inputs"
)

// texts are the options, other than Fold, that select what part of a text is compared.
var texts = []string{"Shingle", "Symbols", "Fields", "StopWords", "RequireWords", "Mask", "MinWords", "Bits", "SetField", "FeaturesField", "Compute", "Weights", "Ignore", "IgnoreCommon"}

// workers stands for a job that many workers share; it is not an option.
const workers = "Workers"

// composition lists the options that do not compose: an option excludes others, or needs at least
// one of several others. Any combination that is not listed here is allowed.
var composition = []struct {
	option   string
	excludes []string
	needs    []string
	why      string
	unless   []string // with any of these options, the rule does not apply
}{
	{option: "Verify", needs: []string{"Near"}, why: "the other criteria always compare texts"},
	{option: "Within", excludes: []string{"Across", "WithinField", "Decisions", "Verify", "Images"}, why: "the largest document of a cluster is kept"},
	{option: "Images", excludes: []string{"Jaccard", "Levenshtein", "Cosine", "Verify"}, why: "pictures have hashes, not texts"},
	{option: "Images", excludes: append([]string{"Fold"}, texts...), why: "picture hashes are compared"},
	{option: "Levenshtein", excludes: texts, why: "it compares whole texts"},
	{option: "Within", excludes: []string{"Weights"}, why: "it compares features without weights"},
	{option: "Cosine", excludes: texts, why: "it compares whole texts"},
	{option: "Seen", excludes: []string{"Near", "Jaccard", "Levenshtein", "Cosine", "Within", "Verify"}, why: "a text is compared with all others together"},
	{option: "Seen", excludes: []string{"Across", "WithinField", "Keep", "Clusters", "Decisions", "MinCount"}, why: "texts form no groups; they stay or not in the order of the input"},
	{option: "Seen", excludes: []string{"Images", "Bits", "SetField", "FeaturesField", "Compute", "Weights", "Ignore", "IgnoreCommon"}, why: "the shingles of texts are compared"},
	{option: "Rule", excludes: []string{"Near", "Jaccard", "Levenshtein", "Cosine", "Within", "Verify", "Seen"}, why: "it says which documents match"},
	{option: "Rule", excludes: []string{"Fields", "SetField", "FeaturesField", "Compute", "Weights", "Bits"}, why: "it names what it compares"},
	{option: "Rule", excludes: []string{"AgainstTextField"}, why: "it names the fields of all documents"},
	{option: "Rule", excludes: []string{"Level", "Images"}, why: "it compares texts and fields of documents"},
	{option: "Agree", excludes: []string{"Within", "Verify", "Seen", "Level", "Images", "Fields", "SetField", "FeaturesField", "Compute", "Weights", "Bits"}, why: "it belongs to the rule of one similarity"},
	{option: "Distinct", excludes: []string{"Within", "Verify", "Seen", "Level", "Images", "Fields", "SetField", "FeaturesField", "Compute", "Weights", "Bits"}, why: "it belongs to the rule of one similarity"},
	{option: "MinCount", needs: []string{"Level"}},
	{option: "OnlyAgainst", needs: []string{"Against"}},
	{option: "OnlyAgainst", excludes: []string{"Keep", "MinCount"}, why: "what only the inputs have stays"},
	{option: "AgainstTextField", needs: []string{"Against"}},
	{option: "AgainstIDField", needs: []string{"Against"}},
	{option: "AgainstTextField", excludes: []string{"Fields", "SetField", "FeaturesField"}, why: "it names the fields of all documents"},
	{option: "All", needs: []string{"Columns"}, why: "everything is copied, and columns mark what would be dropped"},
	{option: "NoAudit", excludes: []string{"Audit"}, why: "they contradict each other"},
	{option: "Level", excludes: []string{
		"Near", "Levenshtein", "Cosine", "Within", "Verify", "Across", "WithinField", "Keep", "Clusters", "Columns", "Decisions",
		"Bits", "RequireWords", "Fields", "SetField", "FeaturesField", "Compute", "Weights", "Ignore", "IgnoreCommon",
	}, why: "it compares parts of texts, which are equal or not, or by Jaccard"},
	{option: "Level", excludes: []string{"Shingle"}, why: "it compares parts of texts, which are equal or not", unless: []string{"Seen", "Jaccard"}},
	{option: "Level", excludes: []string{"Images"}, why: "pictures have no text"},
	{option: "Level", excludes: []string{"Files"}, why: "the output is a list of paths, without texts to cut", unless: []string{"Drop"}},
	{option: "Level", excludes: []string{"HTML"}, why: "parts are cut from the text as it is written", unless: []string{"Drop"}},
	{option: "Drop", needs: []string{"Level"}, why: "it drops documents with a repeated part"},
	{option: workers, excludes: []string{
		"Images", "Files", "Within", "Verify", "Levenshtein", "Cosine", "Keep", "Audit", "Decisions",
		"Clusters", "Columns", "DryRun", "Rejects", "Compute", "Weights", "Ignore", "IgnoreCommon", "Drop",
	}, why: "many workers compare documents of files by Jaccard, a rule with it, Near or Seen, keep the first, and write the audit into the folder of the output"},
	{option: workers, excludes: []string{"Level", "Against"}, why: "they do this only for texts that have been seen", unless: []string{"Seen"}},
}

// An OptionError is the error of options that do not compose.
type OptionError struct {
	Option string // the name of a Job's field, or of a criterion
	Other  string // likewise
	Needed bool   // the other one is missing
	Why    string
}

// Error names the options as users of this program write them.
func (e *OptionError) Error() string {
	text := fmt.Sprintf("%s cannot be used with %s", option.Name(e.Other), option.Name(e.Option))
	switch {
	case e.Option == workers:
		text = option.Name(e.Other) + " cannot be used with many workers"
	case e.Needed:
		text = fmt.Sprintf("%s needs %s", option.Name(e.Option), option.Name(e.Other))
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Unwrap makes the error an engine.ErrInvalid.
func (e *OptionError) Unwrap() error { return engine.ErrInvalid }

// valueError is an engine.ErrInvalid whose message is only the reason.
type valueError string

func (e valueError) Error() string { return string(e) }
func (valueError) Unwrap() error   { return engine.ErrInvalid }

func invalid(format string, args ...any) error { return valueError(fmt.Sprintf(format, args...)) }

// paramsOf returns the parameters of fingerprints and sets, and the features they cover.
func paramsOf(c inputs.Compared) (p features.Params, of engine.Features, err error) {
	p, of, err = c.Params(0)
	switch {
	case err != nil:
	case c.Bits%64 != 0 || c.Bits < 0:
		err = fmt.Errorf("fingerprints of %d bits: the length must be a multiple of 64", c.Bits)
	default:
		err = p.Validate()
	}
	if err != nil {
		err = valueError(err.Error())
	}
	return p, of, err
}

// Check returns an error if an option has an invalid value, or does not compose with another one.
func (c *Job) Check() error { return c.check(false) }

// CheckWorkers is Check for a job that many workers share.
func (c *Job) CheckWorkers() error {
	if err := c.check(true); err != nil {
		return err
	}
	if _, _, err := c.sharedRule(); err != nil {
		return err
	}
	if !c.ToFolder() {
		return invalid("%s: many workers write a file for each input: name a folder, DIR/", option.Set("Output", c.Output))
	}
	return nil
}

func (c *Job) check(shared bool) error {
	given := c.given()
	if shared {
		given = append(given, workers)
	}
	for _, rule := range composition {
		if !slices.Contains(given, rule.option) || slices.ContainsFunc(rule.unless, func(name string) bool { return slices.Contains(given, name) }) {
			continue
		}
		missing := rule.needs != nil
		for _, name := range given {
			if slices.Contains(rule.excludes, name) {
				return &OptionError{Option: rule.option, Other: name, Why: rule.why}
			}
			missing = missing && !slices.Contains(rule.needs, name)
		}
		if missing {
			return &OptionError{Option: rule.option, Other: rule.needs[0], Needed: true, Why: rule.why}
		}
	}
	return c.checkValues()
}

// checkValues checks the value of each option.
func (c *Job) checkValues() error {
	share := func(name string, t float64) error {
		if !(t > 0 && t <= 1) {
			return invalid("%s: use a share above 0 and up to 1", option.Set(name, t))
		}
		return nil
	}
	switch kind := c.By.Kind(); {
	case kind == "contains":
		return invalid("Contains cannot be used: Within keeps the largest document of a cluster")
	case kind == "near" && (c.By.K() < 0 || c.By.K() > base.MaxWords*base.FingerprintBits):
		return invalid("%s: a fingerprint has up to %d bits", option.Set("Near", c.By.K()), base.MaxWords*base.FingerprintBits)
	case kind != "" && kind != "near":
		if err := share(optionOf(c.By), c.By.T()); err != nil {
			return err
		}
	}
	if c.Verify != 0 {
		if err := share("Verify", c.Verify); err != nil {
			return err
		}
	}
	if c.Seen != 0 {
		if err := share("Seen", c.Seen); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains([]Level{units.Document, units.Line, units.Paragraph, units.Passage}, c.level()):
		return invalid("%s: unknown level", option.Set("Level", string(c.Level)))
	case c.Seen != 0 && c.level() == units.Passage:
		return invalid("%s cannot be used with %s: a passage is seen or not", option.Set("Level", string(c.Level)), option.Name("Seen"))
	case c.level() == units.Passage && c.By.Kind() != "":
		return invalid("%s cannot be used with %s: a passage is a run of equal words", option.Set("Level", string(c.Level)), option.Name("Jaccard"))
	case c.Seen != 0 && c.Columns != nil && !slices.Equal(c.Columns, Columns{"score"}):
		return invalid("%s: with %s there is only score, for the documents that would be dropped", option.Set("Columns", c.Columns), option.Name("Seen"))
	case c.level() != units.Document && (c.minCount() < 2 || c.minCount() > math.MaxInt32):
		return invalid("%s: use at least 2, because the first occurrence stays", option.Set("MinCount", c.MinCount))
	case c.Where.Images != nil && c.Columns.ofWords():
		return invalid("%s: pictures have no words", option.Set("Columns", c.Columns))
	case c.keepsNoUnit() && c.Seen != 0:
		return &OptionError{Option: "Seen", Other: "Keep", Why: "texts stay or not in the order of the input"}
	case c.keepsNoUnit() && c.OnlyAgainst:
		return &OptionError{Option: "OnlyAgainst", Other: "Keep", Why: "what only the inputs have stays"}
	case c.Decisions == "-":
		return invalid("%s is read from a file, not from standard input", option.Name("Decisions"))
	case c.Across != "" && c.WithinField != "":
		return invalid("%s and %s contradict each other", option.Name("Across"), option.Name("WithinField"))
	}
	rule, _, err := c.agreement().whole()
	if err == nil && rule != nil {
		err = checkIgnored(rule, &c.Compared)
	}
	if err != nil {
		return err
	}
	return c.Keep.check()
}

// keepsNoUnit reports whether all occurrences of a repeated unit are removed.
func (c *Job) keepsNoUnit() bool {
	return c.level() != units.Document && slices.Equal(c.Keep, Keep{None})
}

// optionOf returns the name of the option that sets a criterion, "" for none.
func optionOf(by engine.Criterion) string {
	if by.Kind() == "" {
		return ""
	}
	return strings.ToUpper(string(by.Kind()[:1])) + string(by.Kind()[1:])
}

// given returns the names of the options that are set.
func (c *Job) given() []string {
	given := []string{optionOf(c.By)}
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"Rule", c.Rule != nil}, {"Agree", c.Agree != nil}, {"Distinct", c.Distinct != nil}, {"Verify", c.Verify != 0}, {"Seen", c.Seen != 0}, {"Across", c.Across != ""}, {"WithinField", c.WithinField != ""}, {"Keep", c.Keep != nil && !slices.Equal(c.Keep, Keep{First}) && !c.keepsNoUnit()},
		{"Against", len(c.Against) > 0}, {"OnlyAgainst", c.OnlyAgainst}, {"AgainstTextField", c.AgainstTextField != ""},
		{"AgainstIDField", c.AgainstIDField != ""}, {"Level", c.level() != units.Document}, {"Drop", c.Drop}, {"MinCount", c.minCount() != 2}, {"Decisions", c.Decisions != ""},
		{"Audit", c.Audit != ""}, {"NoAudit", c.NoAudit}, {"Clusters", c.Clusters != ""}, {"Columns", c.Columns != nil}, {"All", c.All},
		{"HTML", c.Read.HTML == "text"}, {"DryRun", c.DryRun}, {"Rejects", c.Rejects.File != ""}, {"Files", c.Where.Files}, {"Images", c.Where.Images != nil},
	} {
		if o.given {
			given = append(given, o.name)
		}
	}
	return append(given, c.Compared.Given()...)
}
