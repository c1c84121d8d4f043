"""The worker process and the client that starts it."""
