"""A browser for the widgets."""

from tests.book.conftest import browser

__all__ = ["browser"]
