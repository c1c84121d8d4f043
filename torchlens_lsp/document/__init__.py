"""The trace document: one model of a run, and its encodings. Imports the standard library only.

`model` and `values` say what a document is, `codec` and `expand` encode it, `cap` bounds its size, `check` holds it
together, `index` answers its readers' questions, `framing` carries messages between processes.
"""
