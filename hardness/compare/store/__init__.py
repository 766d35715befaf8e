"""The store: runs, certificates and data of figures in one SQLite file."""
