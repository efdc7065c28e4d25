package mapping

import (
	"encoding/json"
	"strings"

	"reprise/ingest/decode"
)

func quoted(header []string) [][]byte {
	var list [][]byte
	for _, name := range header {
		b, err := json.Marshal(strings.TrimPrefix(name, "\uFEFF"))
		if err != nil {
			b = []byte(`""`) // Marshal of a string cannot fail
		}
		list = append(list, b)
	}
	return list
}

func (m *mapping) csv(header []string) (func(*decode.Context, []string) error, error) {
	keys := quoted(header)
	return func(c *decode.Context, row []string) error {
		v, err := fromRow(keys, row)
		if err != nil {
			return c.Reject("bad_row", "expected %d columns, got %d: %v", len(header), len(row), err)
		}
		return m.decode(c, v)
	}, nil
}

// fromRow makes a JSON record of a CSV row, so that there is one way to read a record.
func fromRow(header [][]byte, row []string) (*decode.Value, error) {
	text := []byte{'{'}
	for i, cell := range row[:min(len(row), len(header))] {
		if i > 0 {
			text = append(text, ',')
		}
		quoted, err := json.Marshal(cell)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, header[i]...), ':'), quoted...)
	}
	return decode.Parse(append(text, '}'))
}
