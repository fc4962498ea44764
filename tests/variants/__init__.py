"""Right implementations in other styles: every one must keep full marks."""
