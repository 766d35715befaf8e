"""The commands, one subject a file: parse, call one function, print; nothing heavy at import."""
