-- One row a stretch of runs of one variant, one week and one state: of a variant that always passed or was skipped all
-- its runs of the week and state together, of any other variant each run alone.
WITH telling AS (
  SELECT DISTINCT test, pool FROM runs WHERE state = 2
)
SELECT r.test, r.pool, r.week_number, r.state, min(r.place) AS first_place, max(r.place) AS last_place, count(*) AS runs
FROM runs r
LEFT JOIN telling t ON t.test = r.test AND t.pool = r.pool
WHERE t.test IS NULL
GROUP BY r.test, r.pool, r.week_number, r.state
UNION ALL
SELECT r.test, r.pool, r.week_number, r.state, r.place AS first_place, r.place AS last_place, 1 AS runs
FROM runs r
JOIN telling t ON t.test = r.test AND t.pool = r.pool
