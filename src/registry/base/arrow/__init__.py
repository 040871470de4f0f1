"""Arrow arrays: made without pandas, searched by their bytes, and the memory they take."""
