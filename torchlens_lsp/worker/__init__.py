"""The worker: the process that runs the user's code, under the user's interpreter.

It is started by the path of `boot.py`, loads this package by its location under a private name, and answers one
request (see `document.request`). It imports torch and the standard library only, torch as late as it can, and owns
nothing of its process but two private descriptors: everything else is the user's code's.
"""
