"""The marker files are traced, not collected as tests, whatever their names."""

collect_ignore_glob = ["files/*"]
