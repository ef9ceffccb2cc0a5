-- One row a streak of passes or of skips, in order: with its week where the variant has runs that need telling; of a
-- variant that has none, all weeks together, for nobody asks in which week nothing happened.
WITH seen AS (
  SELECT *, max(state) OVER (PARTITION BY test, pool) AS most FROM streaks
)
SELECT test, pool, state, first_place, last_place, runs FROM seen WHERE most = 2 AND state < 2
UNION ALL
SELECT test, pool, state, min(first_place) AS first_place, max(last_place) AS last_place,
  CAST(sum(runs) AS BIGINT) AS runs
FROM seen
WHERE most < 2
GROUP BY test, pool, state
ORDER BY test, pool, first_place, state
