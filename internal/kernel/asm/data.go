package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Multipliers in the finaliser of SplitMix64.
const (
	mul1 = 0xbf58476d1ce4e5b9
	mul2 = 0x94d049bb133111eb
)

var qwords = map[string]Mem{}

// qword returns an eight-byte constant in memory. It is created only once.
func qword(name string, value uint64) Mem {
	m, ok := qwords[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		DATA(0, U64(value))
		qwords[name] = m
	}
	return m
}

// repeated returns a 32-byte vector in memory that has value four times. It is created only once.
func repeated(name string, value uint64) Mem {
	m, ok := qwords[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for i := range 4 {
			DATA(8*i, U64(value))
		}
		qwords[name] = m
	}
	return m
}

// byteTranspose returns the index for VPERMB that transposes eight words as an 8x8 matrix of bytes.
func byteTranspose() Mem {
	const name = "transpose"
	m, ok := qwords[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for row := range 8 {
			for col := range 8 {
				DATA(8*row+col, U8(8*col+row))
			}
		}
		qwords[name] = m
	}
	return m
}
