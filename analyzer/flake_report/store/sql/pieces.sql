-- One row a stretch of runs of one variant and one state: of a variant that always passed or was skipped all its
-- runs of the state together, of any other variant each run alone.
WITH sums AS (
  SELECT test, pool,
    max(state) AS most,
    count(*) FILTER (WHERE state = 0) AS skips,
    min(place) FILTER (WHERE state = 0) AS first_skip,
    max(place) FILTER (WHERE state = 0) AS last_skip,
    count(*) FILTER (WHERE state = 1) AS passes,
    min(place) FILTER (WHERE state = 1) AS first_pass,
    max(place) FILTER (WHERE state = 1) AS last_pass
  FROM runs
  GROUP BY test, pool
)
SELECT test, pool, 0 AS state, first_skip AS first_place, last_skip AS last_place, skips AS runs
FROM sums WHERE most < 2 AND skips > 0
UNION ALL
SELECT test, pool, 1 AS state, first_pass AS first_place, last_pass AS last_place, passes AS runs
FROM sums WHERE most < 2 AND passes > 0
UNION ALL
SELECT r.test, r.pool, r.state, r.place AS first_place, r.place AS last_place, 1 AS runs
FROM runs r
JOIN sums s ON s.test = r.test AND s.pool = r.pool
WHERE s.most = 2
