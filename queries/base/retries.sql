-- about The attempts of calls of which one is numbered above 1: columns of judged. They are few; to group all calls is dear over millions.
-- kept all queries over calls read it
SELECT * FROM judged WHERE root_request_id IN (SELECT root_request_id FROM retried)
