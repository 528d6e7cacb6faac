// Package inspect says what a database has, and whether it is undamaged, by a view of it and by the
// files in its folder.
package inspect
