"""The two rate limits of the REST API, by a clock that the test owns."""

from __future__ import annotations

from collections.abc import Callable


class Meter:
    """Counts by the minute. `others` requests of each minute are made by somebody else of the organization."""

    def __init__(self, now: Callable[[], float], *, user: int = 50, org: int = 200, others: int = 0) -> None:
        self._now = now
        self._limits = {"rest_user": user, "rest": org}
        self._others = others
        self._minute = -1
        self._used = {"rest_user": 0, "rest": 0}
        self.most = 0
        """The most requests of ours that one minute saw."""
        self.refused = 0
        self.user_headers = True

    def count(self) -> dict[str, object] | None:
        """One more request; the body of the 429 where it is one too many."""
        minute = int(self._now() // 60)
        if minute != self._minute:
            self._minute, self._used = minute, {"rest_user": 0, "rest": self._others}
        for scope in self._used:
            self._used[scope] += 1
        self.most = max(self.most, self._used["rest_user"])
        for scope, limit in self._limits.items():
            if self._used[scope] > limit:
                self.refused += 1
                return {
                    "message": f"You have exceeded your API rate limit. Please wait {self._reset()} seconds.",
                    "scope": scope,
                    "limit": limit,
                    "current": self._used[scope],
                    "reset": self._reset(),
                }
        return None

    def headers(self) -> dict[str, str]:
        families = {"RateLimit-User-": "rest_user"} if self.user_headers else {}
        told = {}
        for prefix, scope in {**families, "RateLimit-": "rest"}.items():
            told[f"{prefix}Scope"] = scope
            told[f"{prefix}Limit"] = str(self._limits[scope])
            told[f"{prefix}Remaining"] = str(max(self._limits[scope] - self._used[scope], 0))
            told[f"{prefix}Reset"] = str(self._reset())
        return told

    def _reset(self) -> int:
        return int(60 - self._now() % 60) or 60
