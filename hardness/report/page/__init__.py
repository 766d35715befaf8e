"""The page of a report: one self-contained HTML file that works offline, everything escaped."""
