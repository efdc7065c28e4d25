-- about Logical requests with their times as their caller saw them, of a run in which no call was tried twice: the rows of requests. own_arrival_us: when the
-- about attempt that speaks for the call began.
SELECT *, arrival_us AS own_arrival_us FROM requests
