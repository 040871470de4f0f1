"""Engines: where `sync` builds datasets."""
