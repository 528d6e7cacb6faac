package repl_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/repl"
	"github.com/simdb/simdb/repl/output"
)

// Run a script and print its rows as JSON lines.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "simdb-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := engine.Open(filepath.Join(dir, "example.simdb"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	status := repl.Run(context.Background(), repl.Config{
		DB: db,
		In: strings.NewReader(`
			PUT {"id": "a", "text": "one two three"};
			PUT {"id": "b", "text": "one two three"};
			NEAR('a', 3);
		`),
		Output: output.Options{Format: output.JSONL},
	})
	fmt.Println("status", status)
	// Output:
	// {"message":"stored"}
	// {"message":"stored"}
	// {"id":"b","distance":0}
	// status 0
}
