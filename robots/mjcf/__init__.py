"""Models that others wrote: read as one text, and screened."""
