"""Grading one submission, and reading what was found in it."""
