package main

import (
	"log"
	"os"
	"strings"
)

func Example() {
	lines := "Hello, world!\nhello, world\nSomething else\nHello, world.\n"
	if err := run(strings.NewReader(lines), os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Hello, world!
	// Something else
}
