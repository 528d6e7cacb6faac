package main

import (
	"fmt"
	"io"
	"os"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/simhash"
)

// hashCmd is `simdb hash`.
type hashCmd struct {
	Files   []string `arg:"" name:"file" help:"Files with one text each; - is standard input."`
	Shingle int      `default:"3" placeholder:"K" help:"Words a shingle (default: 3)."`
	rowFlags
}

// Validate checks the flags.
func (c *hashCmd) Validate() error {
	if c.Shingle < 1 {
		return fmt.Errorf("--shingle %d: a shingle has at least one word", c.Shingle)
	}
	return nil
}

// Run shows the fingerprints of the texts.
func (c *hashCmd) Run(a *app) error {
	none := false
	_, err := a.rows(c.rowFlags, []string{"id", "fingerprint"}, func(row func(...any) error) error {
		for _, name := range c.Files {
			text, err := readText(name)
			if err != nil {
				return err
			}
			fp, ok := simhash.Text(text, c.Shingle)
			if !ok {
				none = true
				a.say("%s: the text has no words and so no fingerprint", name)
				if err := row(name, nil); err != nil {
					return err
				}
				continue
			}
			if err := row(name, fp); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && none {
		return status(exitNo)
	}
	return err
}

// readText reads a whole file.
func readText(name string) (text string, err error) {
	f := os.Stdin
	if name != "-" {
		if f, err = os.Open(name); err != nil {
			return "", err
		}
		defer f.Close()
	}
	b, err := io.ReadAll(io.LimitReader(f, engine.MaxTextBytes+1))
	if err != nil {
		return "", err
	}
	if len(b) > engine.MaxTextBytes {
		return "", fmt.Errorf("%s: %w: a text has at most %d bytes", name, engine.ErrTooLarge, engine.MaxTextBytes)
	}
	return string(b), nil
}
