"""Golden answers: what the daemon says of a dozen recorded hosts, held fast while its inside is rebuilt.

A host is recorded once on a real engine (`python -m tests.golden.record`) and played to the daemon as it was, moment by
moment, at the times when it was recorded. What the daemon answers then is compared with `answers/`: words may change
there, in a commit of its own that lists the keys; codes, counts, severities, numbers and order never.
"""
