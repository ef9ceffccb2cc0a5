"""What people read of the cost of failures."""

from __future__ import annotations

from typing import Any

import pytest

from flake_report.model.cost import Cost, Loss, LossBy
from flake_report.report import cost as page


def cost(**fields: Any) -> Cost:
    given: dict[str, Any] = {
        "failed_jobs": 14,
        "retries": 1,
        "failed_hours": 9.06,
        "retry_hours": 0.5,
        "money": 12.5,
        "unpriced_hours": 1.2,
        "untimed": 0,
        "regressions": 3,
        "losses": (
            Loss(LossBy.SIGNATURE, "free-memory-at-start", 8, 0.5, 1234.5),
            Loss(LossBy.SIGNATURE, "(job died)", 1.06, 0),
            Loss(LossBy.TEST, "v1.test_x::test_y", 9.06, 0.5, 12.5),
            Loss(LossBy.QUEUE, "gpu_1_queue", 9.06, 0.5, 12.5),
        ),
    }
    return Cost(**{**given, **fields})


@pytest.mark.parametrize("width", [80, 120])
def test_the_whole_and_its_parts_stand_together(width, printed):
    flat = " ".join(printed(page.to_text(cost()), width).split())
    assert "lost to failures that were no regression: 9.6 GPU-hours, 9.1 in 14 failed jobs, 0.5 in 1 retry" in flat
    assert "12.50 by the prices set, 1.2 hours without a price" in flat
    assert "by signature 8.5 h 1,234.50 free-memory-at-start" in flat
    assert "1.1 h (job died)" in flat


def test_without_prices_there_is_no_column_for_money(printed):
    bare = tuple(Loss(one.by, one.name, one.failed_hours, one.retry_hours) for one in cost().losses)
    text = " ".join(printed(page.to_text(cost(money=None, losses=bare))).split())
    assert "price" not in text
    assert "by signature 8.5 h free-memory-at-start" in text


def test_only_the_largest_is_shown_where_room_is_short(printed):
    assert "(job died)" not in printed(page.to_text(cost(), shown=1))
    many = tuple(Loss(LossBy.TEST, f"t{at}", 1, 0) for at in range(5))
    assert "… 2 more" in printed(page.to_text(cost(losses=many)))


def test_where_nothing_was_lost_nothing_is_said(printed):
    assert printed(page.to_text(cost(failed_jobs=0, retries=0))) == ""


def test_jobs_without_a_time_are_told(printed):
    assert "2 jobs left out: nothing says how long they ran" in printed(page.to_text(cost(untimed=2)))


def test_json_has_every_number():
    told = page.to_json(cost())
    assert (told["failed_hours"], told["money"], told["regressions"]) == (9.06, 12.5, 3)
    assert told["losses"][1] == {
        "by": "signature",
        "name": "(job died)",
        "failed_hours": 1.06,
        "retry_hours": 0,
        "money": None,
    }
