// Package base has what every layer of simdb shares: the representation of fingerprints and the one
// error about damaged data.
package base
