-- One row a variant of these weeks that has no number yet, with the next free one.
SELECT row_number() OVER (ORDER BY classname, name, apart, step, queue, session) + known.numbers AS variant,
  classname, name, apart, step, queue, session
FROM sums
CROSS JOIN (SELECT count(*) AS numbers FROM variants) known
WHERE NOT EXISTS (
  SELECT 1 FROM variants v
  WHERE v.classname = sums.classname AND v.name = sums.name AND v.apart = sums.apart
    AND v.step = sums.step AND v.queue = sums.queue AND v.session = sums.session
)
