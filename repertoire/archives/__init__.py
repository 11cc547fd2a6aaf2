"""Archives: which solutions are kept, and by how much a new one improves on them.

* `archive`: `Archive`, the contract and the threshold rules in words; `elites`: `Elites`, what it holds.
* `competition`: the rules in code; `validation`: what is refused.
* `grid`: `GridArchive`, measure space cut into equal boxes.
* `cvt`: `CVTArchive`, measure space cut into the regions nearest to centroids; `centroids`: `make_centroids`.
"""

from repertoire.archives.archive import Archive
from repertoire.archives.centroids import make_centroids
from repertoire.archives.competition import Rule
from repertoire.archives.cvt import CVTArchive
from repertoire.archives.elites import Elites
from repertoire.archives.grid import GridArchive

__all__ = ["Archive", "CVTArchive", "Elites", "GridArchive", "Rule", "make_centroids"]
