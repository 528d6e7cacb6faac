package verbs

import (
	"bufio"
	"cmp"
	"encoding/json"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/records/inputs"
)

// Changes is `simdb changes`.
type Changes struct {
	DB     string `arg:"" file:"db" help:"The database. Other processes may write to it meanwhile."`
	Since  uint64 `placeholder:"SEQ" help:"List what has changed since this number, the last seq that was read (default: 0, all documents)."`
	Follow bool   `help:"Wait for further changes."`
}

// Help describes the output.
func (Changes) Help() string {
	return `Each change is a line of JSON, in the order of the numbers in seq. Its op is put, with the document as it is now, or delete or expire,
with the id of a document that has left. Fingerprints are included if a document has no text. A document that was written several times is
listed once. Reading from 0, and applying the lines to a map from ids to documents, gives the contents of the database.

If the documents that were removed since SEQ are no longer known, the exit status is 2: begin again with an empty map and from 0.`
}

// Run writes the changes.
func (c *Changes) Run(a *app.App) (err error) {
	db, err := a.Env().OpenDB(c.DB, inputs.Access{})
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	w := bufio.NewWriter(a.Out)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for change, err := range db.Changes(a.Context(), c.Since, c.Follow) {
		if err != nil {
			return cmp.Or(w.Flush(), err)
		}
		if change.Text != "" {
			change.Fingerprints = nil
		}
		change.Time = change.Time.UTC()
		if err = lines.Encode(change); err == nil && c.Follow {
			err = w.Flush()
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
