-- One row a variant of these weeks: its runs summed up by state (see runs.sql), `most` being the highest of them.
SELECT classname, name, apart, step, queue, session,
  max(state) AS most,
  count(*) FILTER (WHERE state = 0) AS skips,
  min(place) FILTER (WHERE state = 0) AS first_skip,
  max(place) FILTER (WHERE state = 0) AS last_skip,
  count(*) FILTER (WHERE state = 1) AS passes,
  min(place) FILTER (WHERE state = 1) AS first_pass,
  max(place) FILTER (WHERE state = 1) AS last_pass
FROM runs
GROUP BY classname, name, apart, step, queue, session
