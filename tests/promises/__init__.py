"""What the exporter promises under faults and attack, and how it is shown: `make chaos`.

A test shows a row when it is marked `@pytest.mark.promise("F1")`; what it measures on the way it hands to the fixture
`figure`, in words: `figure(f"scrapes p99 {p99 * 1000:.0f} ms")`. The rows stand in `table`, the document that is made of
them and of the figures is docs/reliability.md.
"""
