"""The page: one self-contained HTML file of a report, everything escaped."""
