"""A whole class: release exercises, grade submissions, report."""
