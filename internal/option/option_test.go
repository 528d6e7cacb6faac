package option

import "testing"

func TestWords(t *testing.T) {
	for field, want := range map[string]string{
		"IDField": "id-field", "TextField": "text-field", "HTML": "html", "RawHTML": "raw-html", "NoHeader": "no-header", "IDFrom": "id-from", "Memory": "memory",
	} {
		if got := Words(field, "-"); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
}

type format string

func TestFields(t *testing.T) {
	for got, want := range map[string]string{
		Name("IDField"):                                    "IDField",
		Set("Format", format("txt")):                       `Format: "txt"`,
		Set("IDField", "1", "3"):                           `IDField: "1" or "3"`,
		All(Set("Delimiter", byte(';')), Name("NoHeader")): `Delimiter: ';', NoHeader`,
		Set("Bits", 64):                                    "Bits: 64",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
