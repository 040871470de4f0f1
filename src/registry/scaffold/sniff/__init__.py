"""How to read a file that no manifest describes yet: encoding, CSV dialect, records in JSON."""
