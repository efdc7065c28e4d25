-- about JSON is read by a cast.
SELECT model, a_us, token_us, alone_us, pace_us, load_us
FROM UNNEST(CAST(json_parse(coalesce({fits}, '[]')) AS ARRAY(ROW(model VARCHAR, a_us DOUBLE, token_us DOUBLE, alone_us DOUBLE, pace_us DOUBLE, load_us DOUBLE))))
     AS listed(model, a_us, token_us, alone_us, pace_us, load_us)
