"""The families that are built in, which nothing outside `instances` imports."""
