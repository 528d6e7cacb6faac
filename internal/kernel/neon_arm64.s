//go:build !purego

#include "textflag.h"

// USHL shifts each 64-bit lane of n left by the lane of m, or right if that is negative. Go's assembler
// does not know it.
#define USHL(m, n, d) WORD $(0x6ee04400 | (m)<<16 | (n)<<5 | (d))

// NEAR sets near to 0xff in byte i if 64-bit lane i of V4 to V7, which it changes, has at most as many
// ones as each byte of V17 says.
#define NEAR(near) \
	VCNT  V4.B16, V4.B16            \
	VCNT  V5.B16, V5.B16            \
	VCNT  V6.B16, V6.B16            \
	VCNT  V7.B16, V7.B16            \
	VADDP V5.B16, V4.B16, V4.B16    \
	VADDP V7.B16, V6.B16, V6.B16    \
	VADDP V6.B16, V4.B16, V4.B16    \
	VADDP V4.B16, V4.B16, V4.B16    \
	VUMIN V17.B8, V4.B8, V5.B8      \
	VCMEQ V4.B8, V5.B8, V5.B8       \
	VMOV  V5.D[0], near

// LOWEST sets lane to the number of the lowest byte of near that is not zero, and clears that byte. It
// changes R10.
#define LOWEST(near, lane) \
	RBIT near, lane           \
	CLZ  lane, lane           \
	MOVD $0xff, R10           \
	LSL  lane, R10, R10       \
	BIC  R10, near, near      \
	LSR  $3, lane, lane

// func prefetchLines(p *byte, n int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1

line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	SUBS $1, R1
	BGT  line
	RET

// func prefetchEach(base *byte, items *byte, n int, stride int, shift uint64, scale uint64)
TEXT ·prefetchEach(SB), NOSPLIT, $0-48
	MOVD base+0(FP), R0
	MOVD items+8(FP), R1
	LDP  n+16(FP), (R2, R3)
	LDP  shift+32(FP), (R4, R5)

item:
	MOVWU (R1), R7
	LSR   R4, R7, R7
	LSL   R5, R7, R7
	ADD   R0, R7, R7
	PRFM  (R7), PLDL1KEEP
	ADD   R3, R1
	SUBS  $1, R2
	BGT   item
	RET

// func scanFlatNEON(dst *uint32, keys *uint64, groups int, first int, q uint64, k uint64) (count int)
TEXT ·scanFlatNEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD keys+8(FP), R1
	MOVD groups+16(FP), R2
	MOVD first+24(FP), R3
	MOVD q+32(FP), R4
	MOVD k+40(FP), R5
	VDUP R4, V16.D2
	VDUP R5, V17.B16
	MOVD R0, R6

group:
	VLD1.P 64(R1), [V4.D2, V5.D2, V6.D2, V7.D2]
	VEOR   V16.B16, V4.B16, V4.B16
	VEOR   V16.B16, V5.B16, V5.B16
	VEOR   V16.B16, V6.B16, V6.B16
	VEOR   V16.B16, V7.B16, V7.B16
	NEAR(R7)
	CBZ    R7, next

near:
	LOWEST(R7, R8)
	ADD    R3, R8, R8
	MOVW.P R8, 4(R0)
	CBNZ   R7, near

next:
	ADD  $8, R3
	SUBS $1, R2
	BGT  group
	SUB  R6, R0, R0
	LSR  $2, R0, R0
	MOVD R0, count+48(FP)
	RET

// PAIR loads the pair of packed values at R1 + off, and leaves in v what differs from the query.
#define PAIR(off, v, number, shuffle, move, moveNumber) \
	ADD  R1, off, R11                        \
	VLD1 (R11), [v.B16]                      \
	VTBL shuffle.B16, [v.B16], v.B16         \
	USHL(moveNumber, number, number)         \
	VEOR V16.B16, v.B16, v.B16               \
	VAND V18.B16, v.B16, v.B16

// func scanPackedNEON(dst *uint32, packed *byte, l *[160]byte, width int, groups int, first int, q uint64, k uint64, mask uint64) (count int)
TEXT ·scanPackedNEON(SB), NOSPLIT, $0-80
	MOVD dst+0(FP), R0
	MOVD packed+8(FP), R1
	MOVD l+16(FP), R9
	MOVD width+24(FP), R12
	MOVD groups+32(FP), R2
	MOVD first+40(FP), R3
	MOVD q+48(FP), R4
	MOVD k+56(FP), R5
	MOVD mask+64(FP), R7
	VDUP R4, V16.D2
	VDUP R5, V17.B16
	VDUP R7, V18.D2
	VLD1.P 64(R9), [V24.B16, V25.B16, V26.B16, V27.B16] // which bytes of a pair each lane needs
	VLD1.P 64(R9), [V20.D2, V21.D2, V22.D2, V23.D2]     // by how much it is shifted
	VEOR   V0.B16, V0.B16, V0.B16
	VSUB   V20.D2, V0.D2, V20.D2
	VSUB   V21.D2, V0.D2, V21.D2
	VSUB   V22.D2, V0.D2, V22.D2
	VSUB   V23.D2, V0.D2, V23.D2
	LDP  8(R9), (R13, R14)   // where the pairs after the first begin
	MOVD 24(R9), R15
	MOVD R0, R6

group:
	PAIR(ZR, V4, 4, V24, V20, 20)
	PAIR(R13, V5, 5, V25, V21, 21)
	PAIR(R14, V6, 6, V26, V22, 22)
	PAIR(R15, V7, 7, V27, V23, 23)
	NEAR(R7)
	CBZ R7, next

near:
	LOWEST(R7, R8)
	ADD    R3, R8, R8
	MOVW.P R8, 4(R0)
	CBNZ   R7, near

next:
	ADD  R12, R1, R1
	ADD  $8, R3
	SUBS $1, R2
	BGT  group
	SUB  R6, R0, R0
	LSR  $2, R0, R0
	MOVD R0, count+72(FP)
	RET

// func scanTilesNEON(dst *uint64, queries *[4]uint64, rows int, query int, keys *uint64, groups int, k uint64) (count int)
TEXT ·scanTilesNEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD queries+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD query+24(FP), R3
	MOVD keys+32(FP), R4
	MOVD groups+40(FP), R5
	MOVD k+48(FP), R7
	VDUP R7, V17.B16
	LSL  $32, R3, R3  // query<<32 | first key
	MOVD $1, R16
	LSL  $32, R16, R16
	MOVD R0, R6

tile:
	VLD1.P 64(R4), [V0.D2, V1.D2, V2.D2, V3.D2]
	MOVD   R1, R11
	MOVD   R2, R12
	MOVD   R3, R13

row:
	MOVD.P 8(R11), R7
	VDUP   R7, V16.D2
	VEOR   V16.B16, V0.B16, V4.B16
	VEOR   V16.B16, V1.B16, V5.B16
	VEOR   V16.B16, V2.B16, V6.B16
	VEOR   V16.B16, V3.B16, V7.B16
	NEAR(R7)
	CBZ    R7, next

near:
	LOWEST(R7, R8)
	ADD    R13, R8, R8
	MOVD.P R8, 8(R0)
	CBNZ   R7, near

next:
	ADD  R16, R13, R13
	SUBS $1, R12
	BGT  row
	ADD  $8, R3
	SUBS $1, R5
	BGT  tile
	SUB  R6, R0, R0
	LSR  $3, R0, R0
	MOVD R0, count+56(FP)
	RET

// func filterNEON(dst *uint32, q *[4]uint64, bitmaps *[4]uint64, n int, first int, need int) (count int)
TEXT ·filterNEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD q+8(FP), R1
	MOVD bitmaps+16(FP), R2
	MOVD n+24(FP), R3
	MOVD first+32(FP), R4
	MOVD need+40(FP), R5
	VLD1 (R1), [V16.B16, V17.B16]
	MOVD R0, R6

bitmap:
	VLD1.P  32(R2), [V0.B16, V1.B16]
	VAND    V16.B16, V0.B16, V0.B16
	VAND    V17.B16, V1.B16, V1.B16
	VCNT    V0.B16, V0.B16
	VCNT    V1.B16, V1.B16
	VADD    V1.B16, V0.B16, V0.B16
	VUADDLV V0.B16, V0
	VMOV    V0.H[0], R7
	MOVW    R4, (R0)
	CMP     R5, R7
	CSET    GE, R8
	ADD     R8<<2, R0, R0
	ADD     $1, R4
	SUBS    $1, R3
	BGT     bitmap
	SUB     R6, R0, R0
	LSR     $2, R0, R0
	MOVD    R0, count+48(FP)
	RET

// WORDS sets the bytes of m to ones where those of x are letters or digits, and to zeros elsewhere,
// except for the bits of V20, which it takes from V20. It changes V28 and V29.
#define WORDS(x, m) \
	VSUB  V16.B16, x.B16, V28.B16     \ // x - '0' <= 9
	VUMIN V17.B16, V28.B16, V29.B16   \
	VCMEQ V28.B16, V29.B16, m.B16     \
	VORR  V21.B16, x.B16, V28.B16     \ // x | 0x20 - 'a' <= 25
	VSUB  V18.B16, V28.B16, V28.B16   \
	VUMIN V19.B16, V28.B16, V29.B16   \
	VCMEQ V28.B16, V29.B16, V29.B16   \
	VORR  V29.B16, m.B16, m.B16       \
	VAND  V20.B16, m.B16, m.B16

// func masksNEON(dst *uint64, text *byte, blocks int) int
TEXT ·masksNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD text+8(FP), R1
	MOVD blocks+16(FP), R2
	MOVD R0, R6
	VMOVI $48, V16.B16
	VMOVI $9, V17.B16
	VMOVI $97, V18.B16
	VMOVI $25, V19.B16
	VMOVI $32, V21.B16
	MOVD  $0x8040201008040201, R3
	VDUP  R3, V20.D2

block:
	SUBS   $1, R2
	BLT    done
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VORR   V1.B16, V0.B16, V4.B16
	VORR   V3.B16, V2.B16, V5.B16
	VORR   V5.B16, V4.B16, V4.B16
	VUSHR  $7, V4.B16, V4.B16
	VUADDLV V4.B16, V4
	VMOV   V4.H[0], R3
	CBNZ   R3, done // a byte that is not ASCII
	WORDS(V0, V4)
	WORDS(V1, V5)
	WORDS(V2, V6)
	WORDS(V3, V7)
	VADDP  V5.B16, V4.B16, V4.B16
	VADDP  V7.B16, V6.B16, V6.B16
	VADDP  V6.B16, V4.B16, V4.B16
	VADDP  V4.B16, V4.B16, V4.B16
	VMOV   V4.D[0], R3
	MOVD.P R3, 8(R0)
	B      block

done:
	SUB  R6, R0, R0
	LSR  $3, R0, R0
	MOVD R0, ret+24(FP)
	RET
