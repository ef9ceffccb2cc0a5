-- One row a test and session that was met, is asked for and has no number yet, with the next free number.
-- Cases without a name are left out: nothing says that those of two builds are one test.
SELECT CAST(row_number() OVER (ORDER BY m.classname, m.name, m.apart, m.session_key) + k.numbers AS INT) AS test,
  m.classname, m.name, m.apart, m.session_key
FROM met m
CROSS JOIN (SELECT count(*) AS numbers FROM tests) k
WHERE {test} AND m.name <> '' AND NOT EXISTS (
  SELECT 1 FROM tests t
  WHERE t.classname = m.classname AND t.name = m.name AND t.apart = m.apart AND t.session_key = m.session_key
)
