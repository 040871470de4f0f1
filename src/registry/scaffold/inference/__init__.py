"""What each column of a source's records is for: the fields that `registry add` proposes."""
