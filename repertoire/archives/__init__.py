"""Archives: which solutions are kept, and by how much a new one improves on them.

* `archive`: `Archive`, the contract, the cell competition and the threshold rules; `Elites`, what it holds.
* `grid`: `GridArchive`, measure space cut into equal boxes.
"""

from repertoire.archives.archive import Archive, Elites, Rule
from repertoire.archives.grid import GridArchive

__all__ = ["Archive", "Elites", "GridArchive", "Rule"]
