"""Surefoot: train repertoires of gaits, and get a damaged walking robot going again."""
