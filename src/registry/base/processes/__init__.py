"""Worker processes: new interpreters that do what one thread of Python is too slow for."""
