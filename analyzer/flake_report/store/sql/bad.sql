-- One row an attempt that failed, whichever ingest it is of. A table of its own: few attempts do, and what asks for
-- failures then reads these alone.
SELECT ingest, ordinal, classname, name, apart, session_key, session, worker, pid, attempt, signature, blame, fingerprint
FROM attempts
WHERE outcome IN ('failed', 'error', 'crashed')
