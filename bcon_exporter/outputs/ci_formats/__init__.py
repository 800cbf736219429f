"""What CI systems read of `check` and `verify`: JUnit, SARIF, GitHub's annotations, made from neutral findings."""

from bcon_exporter.outputs.ci_formats.findings import CiFinding, CiReport, FindingLevel
from bcon_exporter.outputs.ci_formats.github import render_github
from bcon_exporter.outputs.ci_formats.junit import render_junit
from bcon_exporter.outputs.ci_formats.sarif import render_sarif

__all__ = ["CiFinding", "CiReport", "FindingLevel", "render_github", "render_junit", "render_sarif"]
