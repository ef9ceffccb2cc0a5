-- One row an attempt whose test got its number after `tried` was made.
SELECT t.test, u.pool, u.place, u.week_number, u.state, u.path, u.ingest, u.ordinal
FROM tried u
JOIN attempts a ON a.ingest = u.ingest AND a.ordinal = u.ordinal
JOIN tests t ON t.classname = a.classname AND t.name = a.name AND t.apart = a.apart AND t.session_key = a.session_key
WHERE u.test IS NULL
