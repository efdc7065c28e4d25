-- about Whether the row's call has several attempts, that is one above 1. Such calls are few, and to group all calls is dear over millions.
root_request_id IN (SELECT root_request_id FROM attempts WHERE attempt > 1 AND {range})
