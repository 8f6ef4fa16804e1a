"""Benchmarks: the product beside its floors, in one run."""
