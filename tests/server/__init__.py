"""The server side: configuration, roots, interpreters."""
