// Package dedup finds what is alike, without a database: pairs and clusters of near-duplicates
// among fingerprints, sets and texts.
package dedup
