"""Values are lean: what they were given is their fields, and nothing is kept beside them for each value."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from bcon_exporter.model.container_facts import LogFacts, Mount, NetworkAttachment
from bcon_exporter.model.thresholds import Thresholds

BIND = Mount(type="bind", source="/srv", target="/data")


def test_values_of_a_class_share_what_pydantic_keeps_beside_the_fields() -> None:
    made = Mount(type="volume", source="data", target="/data", read_only=True)
    built = LogFacts.model_construct(lines=(), driver="json-file")

    assert made.model_fields_set is BIND.model_fields_set is BIND.model_copy().model_fields_set
    assert built.model_fields_set is LogFacts(lines=()).model_fields_set
    assert made.model_fields_set is not NetworkAttachment(name="front").model_fields_set


def test_a_copy_has_the_new_fields_and_leaves_the_old_value_alone() -> None:
    copied = BIND.model_copy(update={"read_only": True})

    assert (copied.read_only, BIND.read_only) == (True, False)
    assert copied != BIND == copied.model_copy(update={"read_only": False})
    shown = {"type": "bind", "source": "/srv", "target": "/data", "read_only": True}
    assert copied.model_dump(exclude_defaults=True) == shown
    assert hash(BIND.model_copy()) == hash(BIND)


def test_a_copy_is_as_frozen_and_as_strict_as_any_value() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        BIND.model_copy().source = "/etc"  # type: ignore[misc]  # that is the point
    with pytest.raises(ValidationError, match="Extra inputs"):
        Thresholds.model_validate({"never_heard_of": datetime.now(UTC)})
