// Package token turns text into words and words into shingle hashes: tokenizer version 1, which
// fingerprints and sketches are computed from.
//
// A word is a maximal run of letters, marks and numbers (Unicode L, M, N), lower-cased rune by
// rune. In scripts that are written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer,
// Myanmar) every letter or number, with the marks that follow it, is a word of its own. A shingle
// is K consecutive words; a text of 1 to K-1 words has one shingle, all of its words; a text
// without words has none.
//
// Everything here is part of the format of stored fingerprints: docs/format/fingerprints.md pins it
// by known answers.
package token

// Version is the version of the tokenizer and of the hash that this package implements.
const Version = 1

// BytesPerWord is about what a word and the space after it take in most languages, for guesses of
// the number of words.
const BytesPerWord = 6
