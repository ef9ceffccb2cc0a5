"""The one class of expected errors."""


class FlakeReportError(Exception):
    """Something the user can mend: one sentence that names the thing, the place, and what to do.

    Every other exception is a bug and keeps its traceback.
    """


class NothingUsableError(FlakeReportError):
    """The command ran and found nothing that it could use: exit status 1 instead of 2."""
