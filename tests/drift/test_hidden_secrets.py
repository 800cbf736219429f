"""Promise: a secret that is masked on one side of a difference is not shown on the other; no difference is lost."""

from bcon_exporter.drift.fields import FieldDifference
from bcon_exporter.drift.images import has_other_image
from bcon_exporter.drift.wording import mask_both, mask_counterparts
from bcon_exporter.model.container_facts import ConfigFacts
from bcon_exporter.model.desired import DesiredService, FieldValue
from bcon_exporter.secrets.hide_in_models import hide_in_fields
from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.secrets.masking import Sealer
from bcon_exporter.secrets.normal_form import seal_fields, seal_image
from tests.factories import container
from tests.table_rows import table

OLD, NEW = "Qx7" + "rT9vLm2p", "Wk3" + "pZ8nBc5d"
KNOWN = KnownSecrets(frozenset((NEW,)))
SEALER = Sealer(b"k")


@table(
    ("masked", "text", "shown"),
    [
        ("***", OLD, "***"),
        ('["--pw", "***"]', f'["--pw", "{OLD}"]', '["--pw", "***"]'),
        ('["--pw", "***", "x"]', f'["--pw", "{OLD}", "y", "x"]', '["--pw", "***", "y", "x"]'),
        ('["a", "***", "***"]', f'["a", "***", "{OLD}", "more"]', '["a", "***", "***", "more"]'),
        ("u:***@h", f"u:{OLD}@other", "u:***@other"),
        ("user ***", "user postgres", "user postgres"),
        ("no secret", f"x {OLD}", f"x {OLD}"),
        ("busybox:***", f"busybox:{OLD}", "busybox:***"),
    ],
)
def test_what_stands_in_the_place_of_a_mask_is_masked_unless_it_is_a_plain_word(
    masked: str, text: str, shown: str
) -> None:
    assert mask_both(masked, text) == (masked, shown)
    assert mask_both(text, masked) == (shown, masked)


def test_the_counterpart_of_a_path_is_another_path_of_the_field() -> None:
    here, there = FieldValue("bind /x", "1"), FieldValue("bind /y/***", "2")
    lone = FieldDifference(f"volumes./{OLD}", None, FieldValue(f"bind /y/{OLD}", "3"))
    other = FieldDifference("volumes./***", there, None)
    hidden = mask_counterparts([lone, other, FieldDifference("user", here, FieldValue("b", "4"))])
    assert [one.path for one in hidden] == ["volumes./***", "volumes./***", "user"]
    assert OLD not in str(hidden)


def test_two_secret_tags_are_two_images() -> None:
    service = DesiredService(name="web", image="app:***", image_fingerprint=seal_image(f"app:{NEW}", SEALER))
    for tag, differs in ((NEW, False), (OLD, True)):
        config = ConfigFacts(fields={}, image_fingerprint=seal_image(f"docker.io/library/app:{tag}", SEALER))
        assert has_other_image(service, container(image="app:***", config=config)) is differs


def test_paths_that_are_masked_alike_still_tell_that_one_has_changed() -> None:
    both = KnownSecrets(frozenset((OLD, NEW)))
    one, two = (seal_fields({f"tmpfs./{secret}": "size=1"}, SEALER, both) for secret in (OLD, NEW))
    assert one.keys() == two.keys() == {"tmpfs./***"}
    assert one != two
    pairs = [{f"tmpfs./{OLD}": a, f"tmpfs./{NEW}": b} for a, b in (("a", "b"), ("c", "b"), ("a", "c"))]
    merged = [seal_fields(pair, SEALER, both) for pair in pairs]
    assert all(fields.keys() == {"tmpfs./***"} for fields in merged)
    assert len({fields["tmpfs./***"].fingerprint for fields in merged}) == len(pairs)


def test_what_is_learned_later_is_hidden_as_if_it_had_been_known() -> None:
    raw = {
        "command": f'["--pw", "{NEW}"]',
        f"extra_hosts.{NEW}": "10.0.0.9",
        f"labels.x.{NEW}": f"of {NEW}",
        "networks.net.aliases.web": "set",
        f"networks.{NEW}.aliases.{NEW}": "set",
        f"environment.{NEW}": NEW,
        "container_name": NEW,
        "volumes./data": f"volume {NEW}",
        "volumes./bind": f"bind /{NEW}",
    }
    at_once = seal_fields(raw, SEALER, KNOWN)
    later = hide_in_fields(seal_fields(raw, SEALER), KNOWN)
    assert later == at_once
    shown = {path: value.shown for path, value in later.items()}
    assert (shown["container_name"], shown["volumes./data"]) == (NEW, f"volume {NEW}")
    assert shown["volumes./bind"] == "bind /***"
    assert f"networks.{NEW}.aliases.***" in shown
