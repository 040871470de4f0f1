"""The fixes of `validate --fix`: each edits a manifest without changing its samples."""
