"""What a report holds, before it is laid out: the text, tables and figures of its source."""
