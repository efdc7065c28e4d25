-- about The chunk gaps of the view gaps, equal ones of a group counted together.
-- swept all | gap_lists
SELECT grp, gap_us, count(*) AS c FROM gaps GROUP BY grp, gap_us
