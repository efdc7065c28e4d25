package analyze

// heldRows is how many rows of an answer stay in memory before they go out one by one.
const heldRows = 10_000

// Writer takes an answer in pieces, so that one of millions of rows needs no memory. Begin sees all of the result but the later rows,
// the warnings and the coverage; its Rows are those held so far, and Row gets every row, these too. End sees the rest.
type Writer interface {
	Begin(*Result) error
	Row(row []any) error
	End(*Result) error
}

// Write hands a whole result to w.
func (r *Result) Write(w Writer) error {
	o := outlet{to: w}
	return o.end(r)
}

// outlet is where the rows of an answer go. Without a writer all stay in the result.
type outlet struct {
	to    Writer
	begun bool
}

// row keeps a row in the result, or hands it on when the result holds enough.
func (o *outlet) row(r *Result, row []any) error {
	if o.to == nil || len(r.Rows) < heldRows {
		r.Rows = append(r.Rows, row)
		return nil
	}
	if err := o.begin(r); err != nil {
		return err
	}
	return o.to.Row(row)
}

func (o *outlet) begin(r *Result) error {
	if o.begun {
		return nil
	}
	o.begun = true
	if err := o.to.Begin(r); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if err := o.to.Row(row); err != nil {
			return err
		}
	}
	return nil
}

func (o *outlet) end(r *Result) error {
	if o.to == nil {
		return nil
	}
	if err := o.begin(r); err != nil {
		return err
	}
	return o.to.End(r)
}
