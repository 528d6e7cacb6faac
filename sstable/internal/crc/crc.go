// Package crc computes the checksum of the table format: CRC32C, the Castagnoli polynomial.
package crc

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of b.
func Sum(b []byte) uint32 { return crc32.Checksum(b, table) }

// Update returns the checksum of the bytes that sum is the checksum of, followed by b.
func Update(sum uint32, b []byte) uint32 { return crc32.Update(sum, table, b) }
