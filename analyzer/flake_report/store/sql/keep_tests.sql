-- One row a test and session that ran in the part that was counted last.
SELECT t.test, t.classname, t.name, t.apart, t.session_key
FROM tests t
WHERE EXISTS (SELECT 1 FROM part_files f WHERE f.test = t.test)
