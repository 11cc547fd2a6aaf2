"""Where an MJCF refers to other files."""

import re

# how an MJCF has MuJoCo read other files, whatever their path
_REFERENCE = re.compile(r"<\s*include\b|\bfile\w*\s*=\s*(\"[^\"]*\"|'[^']*')?")


def find_reference(xml: str) -> str | None:
    """The first place where an MJCF refers to another file, or None: it needs nothing but itself."""
    found = _REFERENCE.search(xml)
    return found[0] if found else None
