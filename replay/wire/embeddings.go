package wire

// readEmbeddings reads the answer of an embeddings call: a list of vectors, as numbers or in base64. It generates nothing, so
// its output count is 0 by nature where the server counts at all.
func (f *frame) readEmbeddings(s *scan) {
	c := f.newChoice()
	s.object(func(key []byte) {
		switch string(key) {
		case "data":
			s.array(func() { s.object(func(key []byte) { c.vector(s, key) }) })
		case "usage":
			f.readUsage(s)
		default:
			f.envelope(s, key)
		}
	})
	f.failed = f.failed || f.fail.kind == "error" || f.fail.message != "" && c.kind == 0
	if f.hasUsage && f.usage.Output == nil {
		f.usage.Output = new(int64)
	}
	if c.kind != 0 {
		f.choices = append(f.choices, c)
	}
}

// vector reads a member of one result.
func (c *choice) vector(s *scan, key []byte) {
	switch {
	case string(key) != "embedding":
		s.skip()
	case s.peek() == '"':
		c.add(s, Content)
	default:
		s.array(func() { s.skip(); c.kind |= Content })
	}
}
