"""The tests, by area: a folder each for the parts of the package, and for what ships beside it."""
