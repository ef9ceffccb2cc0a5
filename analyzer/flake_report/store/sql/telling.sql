-- One row an attempt of a run that needs telling. A table of its own, so that engines see how few these are.
SELECT t.test, t.pool, t.place, t.ingest, t.ordinal
FROM tried t
JOIN runs r ON r.test = t.test AND r.pool = t.pool AND r.place = t.place
WHERE r.state = 2
