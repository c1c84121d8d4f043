"""The shipped examples, and the law of the tracer held on them and on the cases."""
