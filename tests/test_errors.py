"""What is quoted of the errors of libraries is one line that says most."""

from __future__ import annotations

import pytest

from flake_report.errors import reason

REFUSED = """Generic S3 error
          \x1b[31m↳\x1b[0m Error performing list request
           \x1b[31m↳\x1b[0m Error performing GET http://127.0.0.1:1/b in 6ms - Server returned non-2xx status code
            \x1b[31m↳\x1b[0m 404 Not Found
             \x1b[31m↳\x1b[0m <?xml version="1.0" encoding="utf-8"?>
<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>"""
NOBODY = """Kernel error -> Generic S3 error
          \x1b[31m↳\x1b[0m Error performing GET http://127.0.0.1:1/b in 3.8s, after 10 retries, max_retries
           \x1b[31m↳\x1b[0m 10, retry_timeout
            \x1b[31m↳\x1b[0m tcp connect error
             \x1b[31m↳\x1b[0m Connection refused (os error 111)
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (REFUSED, "NoSuchBucket: The specified bucket does not exist"),
        (NOBODY, "Kernel error -> Generic S3 error: Connection refused (os error 111)"),
        ("<Error><Code>SlowDown</Code></Error>", "SlowDown"),
        ("IO Error: no such file\nand a second line", "IO Error: no such file"),
        ("not found: GET /b: 404\n\nDebug source:\nNotFound {\n}", "not found: GET /b: 404"),
        ("", ""),
    ],
    ids=["a server's own words", "nobody there", "a code alone", "lines of another kind", "a debug source", "nothing"],
)
def test_a_librarys_error_is_one_line(text: str, said: str) -> None:
    assert reason(OSError(text)) == said
