-- about Logical requests with their times as their caller saw them, of a run in which no call was tried twice: the rows of requests.
SELECT * FROM requests
