package trace

import "strings"

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
	for at := 0; at < len(list); {
		f, _, _ := strings.Cut(list[at:], ",")
		if f == flag {
			return list
		}
		if flag < f {
			return list[:at] + flag + "," + list[at:]
		}
		at += len(f) + 1
	}
	return list + "," + flag
}
