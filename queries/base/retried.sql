-- about The attempts of the calls that were tried more than once, that is have an attempt above 1: columns of judged. They are few; the other calls
-- about need no grouping, which is dear over millions.
-- kept all queries over calls read it
SELECT * FROM judged WHERE root_request_id IN (SELECT root_request_id FROM attempts WHERE attempt > 1 AND {range})
