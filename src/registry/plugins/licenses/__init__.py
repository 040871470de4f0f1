"""The licenses of datasets: a list of them, a policy for CI, and the text of a NOTICE."""
