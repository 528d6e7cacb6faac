// Package text compares texts: by edit distance, by the cosine of their word counts, by a LIKE
// pattern, and word by word.
//
// It knows nothing of statements or of the database. Words are those that shingles are made of, so
// that what WHY shows is what was hashed.
package text
