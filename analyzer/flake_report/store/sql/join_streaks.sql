-- One row a streak of a kept part, at its place in this question.
SELECT n.test, n.pool, s.week_number, s.state,
  s.first_place + {base} AS first_place, s.last_place + {base} AS last_place, s.runs
FROM kept_streaks s
JOIN numbers n ON n.kept_test = s.test AND n.kept_pool = s.pool
