package features

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Weights are weights of features by their hashes. A Weights may be used by many goroutines.
type Weights struct {
	of    map[uint64]float64
	other float64
}

// NewWeights returns the weights of some features, by hash, and of all others. Features of weight 0
// are left out.
func NewWeights(of map[uint64]float64, other float64) *Weights { return &Weights{of, other} }

// Of returns the weight of a feature.
func (w *Weights) Of(hash uint64) float64 {
	if v, ok := w.of[hash]; ok {
		return v
	}
	return w.other
}

// IDF returns the inverse document frequency of a feature of df of n documents, smoothed as by
// scikit-learn: ln((n + 1) / (df + 1)) + 1. (Spärck Jones, "A Statistical Interpretation of Term
// Specificity and Its Application in Retrieval", Journal of Documentation 1972)
func IDF(n, df int64) float64 { return math.Log(float64(n+1)/float64(df+1)) + 1 }

// ReadWeights reads a table of weights of the features of texts with these parameters: lines
// "feature TAB weight", or JSON objects with the keys "feature" and "weight". A feature is a text that
// has only this feature: its words with spaces between them, the characters, or a member of a set.
// Other features have weight 1.
func ReadWeights(r io.Reader, p Params) (*Weights, error) {
	p.Features.MinWords, p.Features.Fields, p.Weights = 0, nil, nil
	of, hasher, lines := map[uint64]float64{}, p.NewSetHasher(), bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if line = strings.Trim(line, "\r\n"); line != "" {
			if err := p.readWeight(of, hasher, line); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if err == io.EOF {
			return NewWeights(of, 1), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readWeight adds the weight in a line.
func (p Params) readWeight(of map[uint64]float64, hasher *SetHasher, line string) (err error) {
	var entry struct {
		Feature string
		Weight  *float64
	}
	if feature, weight, ok := strings.Cut(line, "\t"); ok && line[0] != '{' {
		w, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if entry.Feature, entry.Weight = feature, &w; err != nil {
			return fmt.Errorf("%q is not a number", weight)
		}
	} else if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Weight == nil {
		return fmt.Errorf(`%q is neither "feature TAB weight" nor {"feature": ..., "weight": ...}`, line)
	}
	if *entry.Weight != 0 {
		if err := CheckWeight(*entry.Weight); err != nil {
			return err
		}
	}
	text := entry.Feature
	if p.Features.Unit == Set {
		text = SetText(text)
	}
	set := hasher.Brief([]byte(text))
	if p.Real() {
		set = set[:len(set)/2]
	}
	units := p.Shingle
	switch p.Features.Unit {
	case "":
		units = len(p.Features.Words(entry.Feature))
	case Chars:
		units = utf8.RuneCountInString(entry.Feature)
	}
	if len(set) != 1 || units != p.Shingle {
		return fmt.Errorf("%q is not a run of %d %s", entry.Feature, p.Shingle, cmp.Or(p.Features.Unit, Words))
	}
	if _, ok := of[set[0]]; ok {
		return fmt.Errorf("%q is an earlier feature", entry.Feature)
	}
	of[set[0]] = *entry.Weight
	return nil
}
