"""What `validate` checks, which problems it reports and which it fixes."""
