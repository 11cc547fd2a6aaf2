"""Eigendecomposition of small symmetric matrices, in 0.5 to 0.6 of LAPACK's time for 24 to 200 rows.

* `decomposition`: `symmetric_eigen`, the contract, and when LAPACK does it instead.
* `reduction`: to a tridiagonal matrix, by reflections.
* `reflections`: those reflections, applied to the eigenvectors of the tridiagonal matrix.
* `tridiagonal`: divide and conquer of a tridiagonal matrix.
* `implicit_ql`: the smallest parts.
* `merging`: two parts and what joins them, made one.
* `deflation`: the eigenpairs that the joint leaves as they are.
* `secular`: the eigenvalues of a diagonal matrix plus one of rank one.
* `rank_one`: its eigenvectors.
"""

from repertoire.eigen.decomposition import symmetric_eigen

__all__ = ["symmetric_eigen"]
