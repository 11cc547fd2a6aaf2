"""The table of archives, and how a specification is read from its text."""

from collections.abc import Sequence

from repertoire.archives.archive import MAX_CELLS, ArchiveSpec
from repertoire.archives.cvt import CVTSpec
from repertoire.archives.grid import GridSpec
from robots.errors import InvalidValueError, UnknownNameError

ARCHIVES: dict[str, type[ArchiveSpec]] = {spec.kind: spec for spec in (GridSpec, CVTSpec)}


def parse_archive(spec: ArchiveSpec | str | Sequence[int]) -> ArchiveSpec:
    """Return the specification of an archive.

    Args:
        spec: a text such as `6,6,6,6` or `cvt:1000`, the cells of a grid along each measure, or a
            specification, which is returned as it is.

    Raises:
        UnknownNameError: there is no such kind of archive.
        InvalidValueError: the text is not of the form that the kind has, or there are too many cells.
    """
    if isinstance(spec, ArchiveSpec):
        return spec
    text = spec if isinstance(spec, str) else ",".join(map(str, spec))
    kind, colon, arguments = text.partition(":")
    if not colon:
        kind, arguments = GridSpec.kind, text
    if kind not in ARCHIVES:
        raise UnknownNameError("archive", kind, ARCHIVES)
    try:
        parsed = ARCHIVES[kind].parse(arguments)
    except InvalidValueError as error:
        forms = " or ".join(known.form for known in ARCHIVES.values())
        raise InvalidValueError(f"the archive {text!r} cannot be read: {error}; write {forms}") from error
    if parsed.cells > MAX_CELLS:
        raise InvalidValueError(
            f"the archive must have at most {MAX_CELLS:,} cells in all, not {parsed.cells:,}"
        )
    return parsed
