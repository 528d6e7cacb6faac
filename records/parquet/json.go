package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/internal/jsontext"
	"github.com/simdb/simdb/records"
)

// The layouts of times. Timestamps not in UTC have no zone.
const (
	clock     = "15:04:05.999999999"
	timestamp = "2006-01-02T" + clock
)

// formatter appends a value that is not null as JSON.
type formatter func(b []byte, v pq.Value) []byte

// formatterOf returns the function that writes values of a column as JSON: numbers and booleans as
// such, times in the format of RFC 3339, and bytes that are not text in base64.
func formatterOf(t pq.Type) formatter {
	if lt := t.LogicalType(); lt != nil {
		switch lt := lt.Value.(type) {
		case *format.DecimalType:
			return decimals(int(lt.Scale), t.Kind())
		case *format.DateType:
			return func(b []byte, v pq.Value) []byte {
				return appendTime(b, time.Unix(int64(v.Int32())*86400, 0).UTC(), "2006-01-02")
			}
		case *format.TimeType:
			return times(lt.Unit, t.Kind(), clock)
		case *format.TimestampType:
			if lt.IsAdjustedToUTC {
				return times(lt.Unit, t.Kind(), timestamp+"Z")
			}
			return times(lt.Unit, t.Kind(), timestamp)
		case *format.IntType:
			if !lt.IsSigned {
				return unsigned(t.Kind())
			}
		case *format.UUIDType:
			return func(b []byte, v pq.Value) []byte { return records.AppendString(b, uuid(v.ByteArray())) }
		case *format.JsonType:
			return appendEmbedded
		}
	}
	switch t.Kind() {
	case pq.Boolean:
		return func(b []byte, v pq.Value) []byte { return strconv.AppendBool(b, v.Boolean()) }
	case pq.Int32:
		return func(b []byte, v pq.Value) []byte { return strconv.AppendInt(b, int64(v.Int32()), 10) }
	case pq.Int64:
		return func(b []byte, v pq.Value) []byte { return strconv.AppendInt(b, v.Int64(), 10) }
	case pq.Int96:
		return func(b []byte, v pq.Value) []byte {
			return appendTime(b, int96Time(v.Int96()), timestamp+"Z")
		}
	case pq.Float:
		return func(b []byte, v pq.Value) []byte { return records.AppendFloat(b, float64(v.Float()), 32) }
	case pq.Double:
		return func(b []byte, v pq.Value) []byte { return records.AppendFloat(b, v.Double(), 64) }
	}
	return func(b []byte, v pq.Value) []byte { return jsontext.AppendBytes(b, v.ByteArray()) }
}

// unsigned formats unsigned integers.
func unsigned(kind pq.Kind) formatter {
	if kind == pq.Int32 {
		return func(b []byte, v pq.Value) []byte { return strconv.AppendUint(b, uint64(v.Uint32()), 10) }
	}
	return func(b []byte, v pq.Value) []byte { return strconv.AppendUint(b, v.Uint64(), 10) }
}

// decimals formats decimal numbers with all their digits.
func decimals(scale int, kind pq.Kind) formatter {
	return func(b []byte, v pq.Value) []byte {
		n := new(big.Int)
		switch kind {
		case pq.Int32:
			n.SetInt64(int64(v.Int32()))
		case pq.Int64:
			n.SetInt64(v.Int64())
		default: // two's complement, big-endian
			p := v.ByteArray()
			n.SetBytes(p)
			if len(p) > 0 && p[0] >= 0x80 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))))
			}
		}
		if scale < 0 || scale > 1000 {
			return records.AppendString(b, n.String()+"e"+strconv.Itoa(-scale))
		}
		return jsontext.AppendDecimal(b, n, scale)
	}
}

// times formats numbers of a unit of time, since midnight or since 1970.
func times(unit format.TimeUnit, kind pq.Kind, layout string) formatter {
	perSecond := int64(1e9)
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		perSecond = 1e3
	case *format.MicroSeconds:
		perSecond = 1e6
	}
	return func(b []byte, v pq.Value) []byte {
		n := v.Int64()
		if kind == pq.Int32 {
			n = int64(v.Int32())
		}
		return appendTime(b, time.Unix(n/perSecond, n%perSecond*(1e9/perSecond)).UTC(), layout)
	}
}

// int96Time decodes the 96-bit time of legacy writers: a Julian day and nanoseconds.
func int96Time(v deprecated.Int96) time.Time {
	const epoch = 2440588 // the Julian day of 1970-01-01
	nanos := int64(v[1])<<32 | int64(v[0])
	return time.Unix((int64(v[2])-epoch)*86400, nanos).UTC()
}

func appendTime(b []byte, t time.Time, layout string) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, layout)
	return append(b, '"')
}

// half decodes a number of half precision from two bytes.
func half(p []byte) float64 {
	bits := binary.LittleEndian.Uint16(p)
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var f float64
	switch {
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	case exponent < 31:
		f = math.Ldexp(1024+fraction, exponent-25)
	case fraction == 0:
		f = math.Inf(1)
	default:
		return math.NaN()
	}
	if bits>>15 == 1 {
		return -f
	}
	return f
}

// appendEmbedded appends a value that is itself JSON.
func appendEmbedded(b []byte, v pq.Value) []byte {
	p := v.ByteArray()
	if utf8.Valid(p) && json.Valid(p) {
		return append(b, bytes.TrimSpace(p)...)
	}
	return jsontext.AppendBytes(b, p)
}

func uuid(p []byte) string {
	if len(p) != 16 {
		return hex.EncodeToString(p)
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", p[:4], p[4:6], p[6:8], p[8:10], p[10:])
}
