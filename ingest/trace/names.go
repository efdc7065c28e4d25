package trace

// NameFields are the names that people group by, as --hash and --plain take them.
func NameFields() []string {
	return []string{"tenant", "app", "route", "model", "provider", "deployment", "replica"}
}

// Names gives the columns of a name field; nil for a word that is none. model stands for two: asked for and served.
func (r *Request) Names(field string) []*string {
	switch field {
	case "tenant":
		return []*string{&r.Tenant}
	case "app":
		return []*string{&r.App}
	case "route":
		return []*string{&r.Route}
	case "model":
		return []*string{&r.ModelRequested, &r.ModelServed}
	case "provider":
		return []*string{&r.Provider}
	case "deployment":
		return []*string{&r.Deployment}
	case "replica":
		return []*string{&r.Replica}
	}
	return nil
}
