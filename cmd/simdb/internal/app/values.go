package app

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// The types of flags. Each parse error says in one sentence why a value is wrong and how to write
// it.

// Age is a duration in the notation of statements: 30d, 2w, 48h, 1d12h.
type Age time.Duration

// UnmarshalText parses an age.
func (d *Age) UnmarshalText(text []byte) error {
	v, ok := quantity.ParseDuration(string(text))
	if !ok {
		return fmt.Errorf("%q is not an age such as 30d, 48h or 1h30m", text)
	}
	*d = Age(v)
	return nil
}

// Lifetime is an age above zero, or -1 for no end.
type Lifetime Age

// UnmarshalText parses a lifetime, or never.
func (d *Lifetime) UnmarshalText(text []byte) error {
	if string(text) == "never" {
		*d = -1
		return nil
	}
	if err := (*Age)(d).UnmarshalText(text); err != nil {
		return err
	}
	if *d <= 0 {
		return fmt.Errorf("%q: documents would expire at once", text)
	}
	return nil
}

// size is an amount of memory: 2GiB, 512MB, 1000000.
type size int64

// UnmarshalText parses a size.
func (z *size) UnmarshalText(text []byte) error {
	s := strings.ToLower(strings.TrimSpace(string(text)))
	factor := 1.0
	for _, u := range []struct {
		name   string
		factor float64
	}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
		{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1}} {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			s, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 0 && n*factor < 1<<60) {
		return fmt.Errorf("%q is not a size such as 2GiB or 500MB", text)
	}
	*z = size(n * factor)
	return nil
}

// atLeast parses a size of at least least, which is a whole number of MiB.
func (z *size) atLeast(least size, text []byte) error {
	if err := z.UnmarshalText(text); err != nil {
		return err
	}
	if *z < least {
		return fmt.Errorf("%q: at least %dMiB is needed; a number alone means bytes; write sizes as 512MiB or 2GiB", text, least>>20)
	}
	return nil
}

// leastMemory is the smallest --memory. With less, every few documents would need a table of their
// own.
const leastMemory = 1 << 20

// Memory is the size of a buffer for documents.
type Memory size

// The default of --memory is 1/memoryShare of the machine's memory, within limits. More than
// mostDefault hardly makes anything faster. On machines where leastDefault would exceed 1/mostShare
// of the memory, that share is the lower limit: a command has buffers in addition to --memory, and
// the system needs memory, too.
const (
	memoryShare, mostShare    = 16, 4
	leastDefault, mostDefault = 256 << 20, 1 << 30
)

// defaultMemory returns the default of --memory on a machine with n bytes; 0 means unknown.
func defaultMemory(n int64) Memory {
	least := int64(leastDefault)
	if n > 0 {
		least = max(min(least, n/mostShare), leastMemory)
	}
	return Memory(min(max(n/memoryShare, least), mostDefault))
}

// DefaultMemory returns the default of --memory on this machine.
func DefaultMemory() int64 { return int64(defaultMemory(vfs.Memory())) }

// UnmarshalText parses an amount of memory, or auto.
func (z *Memory) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*z = Memory(DefaultMemory())
		return nil
	}
	return (*size)(z).atLeast(leastMemory, text)
}

// Rate is a number of bytes written per second.
type Rate size

// UnmarshalText parses a rate.
func (r *Rate) UnmarshalText(text []byte) error { return (*size)(r).atLeast(leastMemory, text) }

// queryMemory is the memory for the results of a query. There is no way to say "none": 0 is an
// error.
type queryMemory size

// UnmarshalText parses an amount of memory.
func (z *queryMemory) UnmarshalText(text []byte) error {
	if err := (*size)(z).UnmarshalText(text); err != nil {
		return err
	}
	if *z == 0 {
		return fmt.Errorf("%q: give a size above 0, such as 1GiB", text)
	}
	return nil
}

// CacheSize is the size of a cache: 0 is the default, a negative size means none.
type CacheSize size

// UnmarshalText parses a size; 0 means none.
func (z *CacheSize) UnmarshalText(text []byte) error {
	if err := (*size)(z).UnmarshalText(text); err != nil {
		return err
	}
	if *z == 0 {
		*z = -1
	}
	return nil
}

// Quantity is a whole number, which may be written as 1e7 or 10M.
type Quantity int64

// UnmarshalText parses a number.
func (n *Quantity) UnmarshalText(text []byte) error {
	s, factor := strings.ToLower(strings.ReplaceAll(string(text), "_", "")), 1.0
	for i, unit := range []string{"k", "m", "g"} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			s, factor = rest, math.Pow(1000, float64(i+1))
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	v *= factor
	if err != nil || v < 1 || v > 1<<53 || v != math.Trunc(v) {
		return fmt.Errorf("%q is not a count such as 1000000, 1e6 or 1M", text)
	}
	*n = Quantity(v)
	return nil
}

// whole parses a whole number within limits; what describes it in messages.
func whole[T ~int | ~int64](to *T, text []byte, what string, least, most int64) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%q: %s, from %d to %d", text, what, least, most)
	}
	*to = T(n)
	return nil
}

// Hashes is the number of hashes in a sketch.
type Hashes int

// UnmarshalText parses a number of hashes.
func (n *Hashes) UnmarshalText(text []byte) error {
	return whole(n, text, "a sketch has a whole number of hashes", 1, table.MaxSketch)
}

// HashesOrNone is the number of hashes in a sketch, or 0 for no sketch.
type HashesOrNone int

// UnmarshalText parses a number of hashes.
func (n *HashesOrNone) UnmarshalText(text []byte) error {
	return whole(n, text, "a sketch has a whole number of hashes", 0, table.MaxSketch)
}

// Tables is a number of permuted tables.
type Tables int

// UnmarshalText parses a number of tables. Each table leads with a different part of the 64 bits.
func (n *Tables) UnmarshalText(text []byte) error {
	return whole(n, text, "a database has a whole number of permuted tables", 1, mostTables)
}

// mostTables is the largest number of blocks in a layout.
const mostTables = 16

// BitLength is the length of a fingerprint.
type BitLength int

// BitRange says how long fingerprints may be.
const BitRange = "the length of a fingerprint is a multiple of 64 bits, from 64 to 1024 (in simdb hash, to 4096)"

// UnmarshalText parses a length.
func (n *BitLength) UnmarshalText(text []byte) error {
	if err := whole(n, text, "", 64, 4096); err != nil || *n%64 != 0 {
		return fmt.Errorf("%q: %s", text, BitRange)
	}
	return nil
}

// lineCount is a number of lines.
type lineCount int64

// UnmarshalText parses a number of lines.
func (n *lineCount) UnmarshalText(text []byte) error {
	return whole(n, text, "give a whole number of lines", 0, math.MaxInt64)
}

// Layout is a way of permuting the bits of fingerprints.
type Layout struct{ table.Layout }

// UnmarshalText parses a layout.
func (l *Layout) UnmarshalText(text []byte) (err error) {
	l.Layout, err = table.ParseLayout(string(text))
	return err
}

// Rounded returns x rounded to some decimals, so that rows show no more digits than are known.
func Rounded(x float64, decimals int) float64 {
	p := math.Pow10(decimals)
	return math.Round(x*p) / p
}

// ExactStrings makes kong pass arguments byte by byte. Its own mapper replaces bytes that are not
// UTF-8, which file names may contain.
func ExactStrings() kong.Option {
	return kong.KindMapper(reflect.String, kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		token, err := ctx.Scan.PopValue("string")
		if err == nil {
			target.SetString(fmt.Sprint(token.Value))
		}
		return err
	}))
}
