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
	switch {
	case list == "":
		return flag
	case list == QNaiveTime && flag == QSystemEstimated: // on every row of some logs: not another text for each
		return QNaiveTime + "," + QSystemEstimated
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
