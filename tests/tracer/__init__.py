"""What a recording holds, and that it leaves the run as it was."""
