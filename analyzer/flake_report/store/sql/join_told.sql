-- One row a run of a kept part that needs telling, at its place in this question.
SELECT n.test, n.pool, t.place + {base} AS place, t.verdict, t.first_failed, t.retried, t.recovered, t.victim,
  t.fingerprint, t.signature, t.agent, t.job, t.retry_type
FROM kept_told t
JOIN numbers n ON n.kept_test = t.test AND n.kept_pool = t.pool
