"""Map record batches to samples by whole columns."""
