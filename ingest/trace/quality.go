package trace

import (
	"slices"
	"strings"
)

func hasFlag(list, flag string) bool {
	for f := range strings.SplitSeq(list, ",") {
		if f == flag {
			return true
		}
	}
	return false
}

func addFlag(list, flag string) string {
	if list == "" {
		return flag
	}
	if hasFlag(list, flag) {
		return list
	}
	flags := append(strings.Split(list, ","), flag)
	slices.Sort(flags)
	return strings.Join(flags, ",")
}
