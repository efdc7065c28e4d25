-- about The chunk gaps of the view gaps, equal ones of a group counted together (what: gap), and their streams by the longest gap (what: longest).
-- swept all | requests
SELECT grp, 'gap' AS what, gap_us, count(*) AS c FROM gaps GROUP BY grp, gap_us
UNION ALL
SELECT grp, 'longest', max_gap_us, count(*) FROM requests WHERE latency AND streamed AND chunks >= 2 GROUP BY grp, max_gap_us
