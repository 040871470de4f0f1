"""The Hugging Face Hub as a source."""
