-- about The calls that were tried again: root_request_id of attempts numbered above 1.
SELECT root_request_id FROM attempts WHERE attempt > 1 AND {range}
