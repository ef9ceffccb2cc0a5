-- One row a streak of this part, in order; places are counted from its first build.
SELECT test, pool, week_number, state, first_place - {base} AS first_place, last_place - {base} AS last_place, runs
FROM part_streaks
ORDER BY test, pool, first_place, state
