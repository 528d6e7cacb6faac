package view

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
)

// A document with several fingerprints is stored as several rows: the document with its first
// fingerprint, and for each further fingerprint a code, which is a row without text whose ID
// contains the ID of the document. Codes are written right after their document, in the same write.
// A code counts only if its document is alive and older than the code; readers check this. A write
// that replaces or deletes a document therefore need not know its codes; a merge leaves out codes
// that do not count.
//
// The ID of a code:
//
//	+-------+--------------------+-----------------------+
//	| mark  | ID of the document | number, big endian, 2 |
//	+-------+--------------------+-----------------------+
const (
	codeMark = "\x00code\x00"
	codeMore = len(codeMark) + 2 // how much longer a code's ID is than the document's
	MaxCodes = 1<<16 - 1         // maximum number of codes of a document; they are numbered from 1
)

// CodeID returns the ID of a code of a document.
func CodeID(id string, number int) string {
	b := append(make([]byte, 0, len(id)+codeMore), codeMark...)
	return string(binary.BigEndian.AppendUint16(append(b, id...), uint16(number)))
}

// Owner returns the ID of the document that a row belongs to, and whether the row is a code.
func Owner(id []byte) (owner []byte, code bool) {
	if len(id) <= codeMore || string(id[:len(codeMark)]) != codeMark {
		return id, false
	}
	return id[len(codeMark) : len(id)-2], true
}

// Codes returns the further fingerprints of a document, as rows to store after it.
func (d *Doc) Codes() []Doc {
	codes := make([]Doc, len(d.Fingerprints))
	for i, words := range d.Fingerprints {
		codes[i] = Doc{ID: CodeID(d.ID, i+1), Fingerprint: &words[0], Rest: words[1:], Time: d.Time, Expires: d.Expires}
	}
	return codes
}

// SettleFingerprints checks the fingerprints of a document. If d.Fingerprint is nil, the first of
// d.Fingerprints becomes its fingerprint.
func (c *Config) SettleFingerprints(d *Doc) error {
	if d.Fingerprint != nil {
		if err := c.CheckWords(1 + len(d.Rest)); err != nil {
			return err
		}
	}
	if len(d.Fingerprints) == 0 {
		return nil
	}
	for _, words := range d.Fingerprints {
		if err := c.CheckWords(len(words)); err != nil {
			return err
		}
	}
	if d.Fingerprint == nil {
		d.Fingerprint, d.Rest, d.Fingerprints = &d.Fingerprints[0][0], d.Fingerprints[0][1:], d.Fingerprints[1:]
	}
	switch n := len(d.Fingerprints); {
	case n > 0 && !c.Several:
		return fmt.Errorf("document %s has %d fingerprints, but %s was created for one, without %s: %w",
			files.QuoteID(d.ID), n+1, c.Path, option.Name("Several"), files.ErrParams)
	case n > MaxCodes:
		return fmt.Errorf("document %s has %d fingerprints; the limit is %d: %w", files.QuoteID(d.ID), n+1, MaxCodes+1, files.ErrTooLarge)
	case n > 0 && len(d.ID) > maxIDBytes-codeMore:
		return fmt.Errorf("id of %d bytes for a document with several fingerprints; the limit is %d: %w", len(d.ID), maxIDBytes-codeMore, files.ErrTooLarge)
	}
	return nil
}

// Counts reports whether a living row of a table is a document or a code that counts.
func (v *View) Counts(p *Part, doc uint32) (bool, error) {
	id, err := p.ID(doc)
	if err != nil {
		return false, err
	}
	ownerID, code := Owner(id)
	if !code {
		return true, nil
	}
	owner, ok, err := v.Find(ownerID)
	if err != nil || !ok {
		return false, err
	}
	seq, err := p.SeqOf(doc)
	if err != nil {
		return false, err
	}
	stored, err := owner.Seq()
	return stored < seq, err
}

// Fingerprints returns the further fingerprints of a visible document.
func (v *View) Fingerprints(id string) (fps [][]base.Fingerprint, err error) {
	for n := 1; v.Several && n <= MaxCodes; n++ {
		p, ok, err := v.Find([]byte(CodeID(id, n)))
		if err != nil || !ok {
			return fps, err
		}
		e, err := p.Entry()
		if err != nil {
			return nil, err
		}
		fps = append(fps, append([]base.Fingerprint{e.Fingerprint}, e.Rest...))
	}
	return fps, nil
}

// Codes returns the rows of the table that are codes, including dead ones.
func (t *Table) Codes(ctx context.Context) (codes *roaring.Bitmap, err error) {
	t.codesMu.Lock()
	defer t.codesMu.Unlock()
	if t.codes != nil {
		return t.codes, nil
	}
	order, err := t.IDOrder()
	if err != nil {
		return nil, err
	}
	from, end, err := order.Range([]byte(codeMark), []byte(base.PrefixEnd(codeMark)))
	if err != nil {
		return nil, err
	}
	codes = roaring.New()
	err = order.EachID(ctx, from, end, func(doc uint32, id []byte) error {
		if _, code := Owner(id); code {
			codes.Add(doc)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.codes = codes
	return codes, nil
}

// NoDocuments returns the rows of a part that are dead at seq or codes.
func (c *Config) NoDocuments(ctx context.Context, p *Part, seq uint64) (*roaring.Bitmap, error) {
	if err := p.Uncounted.Load(); err != nil {
		return nil, *err
	}
	dead := p.Dead.UpTo(seq)
	if !c.Several {
		return dead, nil
	}
	codes, err := p.Codes(ctx)
	if err != nil {
		return nil, err
	}
	return roaring.Or(dead, codes), nil
}
