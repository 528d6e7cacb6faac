// Package crc computes the checksum of the table format: CRC32C, the Castagnoli polynomial.
package crc

import "github.com/simdb/simdb/internal/kernel"

// Sum returns the checksum of b.
func Sum(b []byte) uint32 { return kernel.CRC32C(0, b) }

// Update returns the checksum of the bytes that sum is the checksum of, followed by b.
func Update(sum uint32, b []byte) uint32 { return kernel.CRC32C(sum, b) }
