package view

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/table"
)

// A Config holds the properties of a database. Only its time to live changes while it is open.
type Config struct {
	Path    string        // as given to Open
	Dir     *files.Folder // nil for a single table file
	UUID    [16]byte
	Created time.Time

	Params table.Params
	words  int              // words per fingerprint, from Params
	Texts  *Hasher          // from Params
	Memory int64            // bytes of results that a query may hold
	Short  *memindex.Budget // budget for signatures of texts and for families; nil if there are none

	Several bool // documents may have several fingerprints, from Params: see codes.go

	ttl atomic.Int64 // of TTL
}

// TTL returns the time to live, 0 if documents do not expire by age.
func (c *Config) TTL() time.Duration { return time.Duration(c.ttl.Load()) }

// SetTTL changes the time to live; 0 or less means that documents do not expire by age.
func (c *Config) SetTTL(ttl time.Duration) { c.ttl.Store(int64(max(ttl, 0))) }

// SetParams sets the parameters and all fields derived from them. A function that the program gave
// stays.
func (c *Config) SetParams(p table.Params) {
	p.Program = cmp.Or(p.Program, c.Params.Program)
	c.Params, c.Texts, c.words = p, NewHasher(p), p.NumWords()
	c.Several = c.Texts.Several()
}

// Bits returns the number of bits of a fingerprint.
func (c *Config) Bits() int { return base.FingerprintBits * c.words }

// CheckDistance returns ErrInvalid if two fingerprints cannot have the distance k.
func (c *Config) CheckDistance(k int) error {
	if k < 0 || k > c.Bits() {
		return fmt.Errorf("a distance of %d bits is outside 0..%d: %w", k, c.Bits(), files.ErrInvalid)
	}
	return nil
}

// CheckWords returns ErrParams if fingerprints do not have n words.
func (c *Config) CheckWords(n int) error {
	if n != c.words {
		return fmt.Errorf("a fingerprint of %d bits, but the fingerprints of %s have %d: %w", base.FingerprintBits*n, c.Path, c.Bits(), files.ErrParams)
	}
	return nil
}

// NeedSketches returns ErrNoSketches if the database has none.
func (c *Config) NeedSketches() error {
	if c.Params.Sketch == 0 {
		return fmt.Errorf("%s: %w", c.Path, files.ErrNoSketches)
	}
	return nil
}

// NeedTexts returns ErrParams if the database stores no texts.
func (c *Config) NeedTexts() error {
	if !c.Params.StoreText {
		return fmt.Errorf("%s stores no texts to compare: %w", c.Path, files.ErrParams)
	}
	return nil
}

// CheckCriterion returns ErrNoSketches, ErrParams or ErrInvalid if the database cannot search by a
// criterion.
func (c *Config) CheckCriterion(by Criterion) error {
	if by.None {
		return fmt.Errorf("no criterion: %w", files.ErrInvalid)
	}
	if by.Near() {
		return c.CheckDistance(by.K)
	}
	if by.Jaccard {
		if err := c.NeedSketches(); err != nil {
			return err
		}
	}
	if by.Together && by.Text != Contains {
		return fmt.Errorf("documents are compared together only by Contains: %w", files.ErrInvalid)
	}
	if err := CheckThreshold(by.T); err != nil {
		return err
	}
	if by.Text.Contained() && c.Texts.Spec().Real() {
		return fmt.Errorf("documents contain others by features without weights, and those of the database have weights: %w", files.ErrParams)
	}
	if by.Verified || by.Text != NoTextMeasure {
		return c.NeedTexts()
	}
	return nil
}

// CheckText returns ErrInvalid if a text is to hold features with weights, and does not.
func (c *Config) CheckText(text string) error {
	if c.Texts.spec.Unit != features.Given {
		return nil
	}
	if err := features.Pairs([]byte(text), func([]byte, float64) {}); err != nil {
		return fmt.Errorf("%w: %w", err, files.ErrInvalid)
	}
	return nil
}

// Most returns how many items of the given size a query may hold.
func (c *Config) Most(size int) int {
	return int(min(max(c.Memory/int64(size), 1), math.MaxInt32))
}

// OverBudget returns the ErrTooLarge of a query that found more things, "documents" or "pairs",
// than it may hold.
func (c *Config) OverBudget(things string) error {
	unordered := ""
	if things == "pairs" {
		unordered = " list them " + option.Name("Unordered") + ","
	}
	return fmt.Errorf("the matching %s do not fit into %s, the memory limit of a query: use LIMIT or COUNT,%s or raise %s: %w",
		things, mebibytes(c.Memory), unordered, option.Name("Memory"), files.ErrTooLarge)
}

// mebibytes writes a number of bytes for people.
func mebibytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
}
