"""Record batches → samples by whole columns."""
