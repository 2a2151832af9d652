"""The federated protocol: studies, methods, secure aggregation, the driver."""
