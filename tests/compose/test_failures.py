"""What Compose complains about is passed on as kind, file and line; what it quotes from the file is not."""

from __future__ import annotations

from bcon_exporter.compose.failures import explain_failure, unset_variables
from tests.table_rows import table

SECRET = "hunter2-hunter2"  # stands where the binary quotes a value


@table(
    ("complaint", "said", "line"),
    [
        ("go-yaml load error in parser at L2.C3-L4.C4: did not find expected key", "not valid YAML", 4),
        ("validating /a/c.yaml: services.web.ports must be a array", "services.web.ports", None),
        (f"yaml: construct errors: line 7: cannot construct !!str `{SECRET}` into cli.named", "not valid YAML", 7),
        ("empty compose file", "empty", None),
        ('service "a" depends on undefined service "zz": invalid compose project', "zz", None),
        ('service "a" refers to undefined volume vv: invalid compose project', "volume vv", None),
        ('service "web" has neither an image nor a build context specified: invalid', "Service web has no image", None),
        ("validating /a/c.yaml: services.web.container_name '' does not match pattern '[a-z]+'", "is empty", None),
        (f"validating /a/c.yaml: services.w.container_name '{SECRET}' does not match pattern 'x'", "services.w.", None),
        (f"validating /a/c.yaml: something new about {SECRET}", "breaks a rule", None),
        ("open /a/nope.yaml: no such file or directory", "/a/nope.yaml", None),
        (
            f"invalid interpolation format for services.web.image.\nYou may need to.\nx:${{{SECRET}",
            "services.web.image",
            None,
        ),
        ("env file /a/nope.env not found: stat /a/nope.env: no such file", "/a/nope.env", None),
        (f"required variable V is missing a value: {SECRET}", "variable V", None),
        (f"'services[a].mem_limit' invalid size: '{SECRET}'", "services[a].mem_limit", None),
        (f"invalid containerPort: {SECRET}", "port", None),
        (f'failed to read /a/.env: line 2: unterminated quoted value "{SECRET}', "malformed", 2),
        (
            f'failed to parse /a/c.yaml: yaml: line 1: line 4: mapping key "{SECRET}" already defined at line 3',
            "twice",
            4,
        ),
        ("dependency cycle detected: a -> b -> a", "a needs b", None),
        ("Circular reference:\n  web in /a/c.yaml\n  extends web in /a/c.yaml", "in a circle", None),
        (f'cannot extend service "w" in /a/{SECRET}.yaml: service "zz" not found', "Service w extends zz", None),
        ("service w declares mutually exclusive `network_mode` and `networks`: x", "network_mode and networks", None),
        (f"secrets.s: file|environment attributes are mutually exclusive {SECRET}", "at secrets.s", None),
        ("services.w.scale: must be greater than or equal to 0", "must be greater than or equal to 0", None),
        (f"x:\n\n'services[w].stop_grace_period' time: invalid duration \"{SECRET}\"", "no length of time", None),
        ('healthcheck.test must start either by "CMD", "CMD-SHELL" or "NONE"', "begin with CMD", None),
        (
            f'error while interpolating services.w.cpus: failed to cast: strconv.ParseFloat: parsing "{SECRET}": bad',
            "services.w.cpus is not of the type",
            None,
        ),
        (f"something new about {SECRET}", "breaks a rule", None),
        ("", "breaks a rule", None),
    ],
)
def test_kind_and_line_are_said_and_quotes_are_not(complaint: str, said: str, line: int | None) -> None:
    error = explain_failure(complaint, ["/a/compose.yaml"])
    assert said in error.message
    assert error.details.get("line") == line
    assert SECRET not in error.message + str(error.details)


def test_a_file_that_the_binary_names_is_the_one_to_look_at() -> None:
    error = explain_failure("validating /a/override.yaml: services.web.x false schema", ["/a/compose.yaml"])
    assert error.details["file"] == "/a/override.yaml"


def test_warnings_are_no_complaints_and_unset_variables_are_read_from_them() -> None:
    stream = 'time="t" level=warning msg="The \\"A_B\\" variable is not set. Defaulting to a blank string."\n' * 2
    assert unset_variables(stream) == ("A_B",)
    assert "breaks a rule" in explain_failure(stream, []).message


def test_variables_without_a_value_are_named_since_they_may_be_the_reason() -> None:
    warning = 'time="t" level=warning msg="The \\"X%s\\" variable is not set. Defaulting to a blank string."\n'
    complaint = 'service "web" has neither an image nor a build context specified: invalid compose project'
    error = explain_failure(warning % 1 + complaint, [])
    assert "Service web has no image" in error.message
    assert "without a value, taken as empty: X1." in error.message
    many = explain_failure("".join(warning % n for n in range(7)) + complaint, [])
    assert "X0, X1, X2, X3, X4 and 2 more." in many.message
