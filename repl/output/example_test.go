package output_test

import (
	"log"
	"os"

	"github.com/simdb/simdb/repl/output"
)

// Write rows as JSON lines.
func ExampleWriter() {
	w := output.New(os.Stdout, []string{"id", "fingerprint", "distance"}, &output.Options{Format: output.JSONL})
	if err := w.Row("doc-17", uint64(0xff), 3); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"id":"doc-17","fingerprint":"00000000000000ff","distance":3}
}
