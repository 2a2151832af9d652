"""fedrank beside its peers: one file per comparison, timed in one process."""
