"""Models that others wrote: their files collected, read as one text, and screened."""
