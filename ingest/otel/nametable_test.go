package otel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Whatever spans came before, find gives the first attribute of a name, as a search does: also when the table is full and
// for names that are too long for it.
func TestFindIsASearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := &memory{}
	for round := range 9000 {
		a := attrs{}
		for i, n := 0, rng.IntN(3*maxSearched); i < n; i++ {
			a.list = append(a.list, attr{name: someName(rng, round)})
		}
		m.index(&a)
		for i := range a.list {
			look(t, a, a.list[i].name)
		}
		for range 5 {
			look(t, a, someName(rng, round))
		}
	}
	if len(m.names.known) != maxNames || len(m.names.at) != maxNames {
		t.Errorf("%d names, %d positions; want %d", len(m.names.known), len(m.names.at), maxNames)
	}
}

// someName is one of few, one of ever new ones, or a long one.
func someName(rng *rand.Rand, round int) string {
	switch rng.IntN(8) {
	case 0:
		return strings.Repeat("long", maxNameBytes/4) + fmt.Sprint(rng.IntN(4))
	case 1, 2, 3:
		return fmt.Sprintf("gen_ai.prompt.%d.content", rng.IntN(20))
	case 4:
		return aliases[rng.IntN(int(fields))][0].name
	}
	return fmt.Sprintf("name %d %d", round, rng.IntN(20))
}

func look(t *testing.T, a attrs, name string) {
	t.Helper()
	var want *attr
	for i := range a.list {
		if a.list[i].name == name && want == nil {
			want = &a.list[i]
		}
	}
	if got := a.find(name); got != want {
		t.Fatalf("%q of %d: got %p, want %p", name, len(a.list), got, want)
	}
}

// of leaves out no field that an attribute can fill.
func TestOfLeavesNothingOut(t *testing.T) {
	m := &memory{}
	for f, list := range aliases {
		for _, alias := range list {
			a := attrs{list: []attr{{name: alias.name}}}
			for i := range maxSearched {
				a.list = append(a.list, attr{name: fmt.Sprint(i)})
			}
			m.index(&a)
			if len(a.of(field(f))) == 0 {
				t.Errorf("field %d with %s alone", f, alias.name)
			}
		}
	}
}

// Numbers begin again before they could be those of spans long past.
func TestNumbersBeginAgain(t *testing.T) {
	m := &memory{}
	for _, before := range []uint32{0, 1<<32 - 2, 1<<32 - 1, 1} {
		m.names.span = before
		a := attrs{}
		for i := range 2 * maxSearched {
			a.list = append(a.list, attr{name: fmt.Sprint(before, " ", i)})
		}
		m.index(&a)
		for _, name := range []string{a.list[5].name, "0 5", "1 5", "none"} {
			look(t, a, name)
		}
	}
}

// What was indexed before another span is searched.
func TestIndexOfAnotherSpan(t *testing.T) {
	m := &memory{}
	a, b := attrs{}, attrs{}
	for i := range 2 * maxSearched {
		a.list, b.list = append(a.list, attr{name: fmt.Sprint("a", i)}), append(b.list, attr{name: fmt.Sprint("b", i)})
	}
	m.index(&a)
	m.index(&b)
	if a.find("a3") != &a.list[3] || a.find("b3") != nil || b.find("b3") != &b.list[3] || b.find("a3") != nil {
		t.Error("an attribute of another span was found, or one's own was not")
	}
}
