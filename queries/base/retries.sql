-- about The attempts of calls that have several of them: columns of judged.
-- kept all queries over calls read it
SELECT * FROM judged WHERE {tried_again}
