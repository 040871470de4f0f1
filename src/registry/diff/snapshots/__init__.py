"""What the files of one side of a diff contain, and what could not be read of them."""
