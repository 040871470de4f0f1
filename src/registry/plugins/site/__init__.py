"""Catalogs and reviews as HTML pages."""
