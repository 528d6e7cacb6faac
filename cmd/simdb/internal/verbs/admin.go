package verbs

import (
	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/records/inputs"
)

// Fields is `simdb fields`.
type Fields struct {
	DB string `arg:"" file:"db" help:"The database."`
	app.RowFlags
}

// Run lists the fields.
func (c *Fields) Run(a *app.App) error { return administer(a, c.DB, c.RowFlags, false, "fields") }

// Allowed is `simdb allowed`.
type Allowed struct {
	DB string `arg:"" file:"db" help:"The database."`
	app.RowFlags
}

// Run lists the pairs.
func (c *Allowed) Run(a *app.App) error { return administer(a, c.DB, c.RowFlags, false, "allowed") }

// TwoDocs are the arguments that name two documents of a database.
type TwoDocs struct {
	DB string `arg:"" file:"db" help:"The database."`
	A  string `arg:"" name:"id" help:"The id of a document."`
	B  string `arg:"" name:"second-id" help:"The id of another."`
}

// Allow is `simdb allow`.
type Allow struct{ TwoDocs }

// Run records the pair.
func (c *Allow) Run(a *app.App) error {
	return administer(a, c.DB, app.RowFlags{}, true, "allow", c.A, c.B)
}

// Unallow is `simdb unallow`.
type Unallow struct{ TwoDocs }

// Run removes the pair.
func (c *Unallow) Run(a *app.App) error {
	return administer(a, c.DB, app.RowFlags{}, true, "unallow", c.A, c.B)
}

// Flush is `simdb flush`.
type Flush struct {
	DB string `arg:"" file:"db" help:"The database."`
}

// Run writes out the memtable.
func (c *Flush) Run(a *app.App) error {
	return administer(a, c.DB, app.RowFlags{}, true, "flush")
}

// administer opens a database and executes one of admin.Commands.
func administer(a *app.App, name string, f app.RowFlags, write bool, command string, args ...string) (err error) {
	db, err := a.Env().OpenDB(name, inputs.Access{Write: write})
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	return a.Administer(db, f, command, args...)
}
