"""The command line, with a scripted worker and, in a few tests, a real one."""
