package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// The multipliers of SplitMix64's finaliser.
const (
	mul1 = 0xbf58476d1ce4e5b9
	mul2 = 0x94d049bb133111eb
)

var qwords = map[string]Mem{}

// qword returns a constant of eight bytes in memory, made once.
func qword(name string, value uint64) Mem {
	m, ok := qwords[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		DATA(0, U64(value))
		qwords[name] = m
	}
	return m
}

// repeated returns a vector of 32 bytes in memory that holds value four times, made once.
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

// byteTranspose returns the index of VPERMB that transposes eight words as an 8x8 matrix of bytes.
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
