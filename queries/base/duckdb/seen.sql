-- about Each stalled gap with what its replica did in its middle.
SELECT s.request_id, s.attempt, s.arrival_us, s.k, held, decoders
  FROM stalls AS s ASOF JOIN crowd AS c ON c.replica = s.replica AND c.at_us <= s.mid_us
