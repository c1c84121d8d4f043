"""The server side: runs workers, reads configuration, finds interpreters. Never imports torch, nor user code."""
