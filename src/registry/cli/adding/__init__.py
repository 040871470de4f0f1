"""The parts of `add`: the source that is meant, questions, and what is shown."""
