"""Failures by the environment, as the store has them."""

from __future__ import annotations

from flake_report.model.failure import Blame
from flake_report.model.incident import Struck
from flake_report.model.query import Pools, Query

from .columns import tuples
from .store import Store
from .variants import VARIANT, variant

_STRUCK = ("place", "job", "agent", "host", "signature", "blame", "ordinal", "fingerprint")


def struck(store: Store, query: Query, pools: Pools | None = None) -> tuple[Struck, ...]:
    """Every variant that the environment failed in the selected jobs, whatever test was asked for."""
    rows = tuples(store.answer("struck", ("attempts",), query, pools), (*_STRUCK, *VARIANT))
    return tuple(
        Struck(
            order=place,
            job=job,
            agent=agent,
            host=host,
            signature=signature,
            blame=Blame(blame),
            ordinal=ordinal,
            fingerprint=fingerprint,
            variant=variant(named),
        )
        for place, job, agent, host, signature, blame, ordinal, fingerprint, *named in rows
    )
