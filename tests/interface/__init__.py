"""What others build upon: its list, as the last release had it, and what has become of that since."""
