package main

import "log"

func Example() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// b stored: false; it resembles a, 0 bits away
	// found a at distance 0
	// [id distance] [a 0]
}
