package intersect

import (
	"testing"

	"github.com/simdb/simdb/internal/simd"
	"github.com/simdb/simdb/internal/simd/simdtest"
)

func TestOneLevel(t *testing.T) {
	simdtest.OneLevel(t, func() simd.Level { return simd.Level(active) })
}
