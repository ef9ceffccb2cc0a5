-- One row a run: one variant (a test in a pool) in one build. `state` is the highest of its attempts: 0 it was only
-- skipped, 1 it plainly passed, 2 it needs telling.
SELECT test, pool, place, week_number, max(state) AS state
FROM tried
WHERE test IS NOT NULL
GROUP BY test, pool, place, week_number
