"""The two threshold rules on lists and dictionaries, slow and independent of what they check."""

import math


class SequentialTranscription:
    """Algorithm 1's inner loop, with the published code's treatment of empty cells."""

    def __init__(self, alpha: float, floor: float) -> None:
        self.alpha, self.floor = alpha, floor
        self.t: dict[int, float] = {}
        self.elite: dict[int, tuple[float, tuple, tuple]] = {}

    def add(self, cells, solutions, objectives, measures):
        improvements = []
        for cell, x, f, m in zip(cells, solutions, objectives, measures, strict=True):
            t = self.t.get(cell, self.floor)
            improvements.append(f if t == -math.inf else f - t)
            if cell not in self.elite or f > t or f > self.elite[cell][0]:
                self.elite[cell] = (f, tuple(x), tuple(m))
            if f > t:
                self.t[cell] = f if t == -math.inf else (1 - self.alpha) * t + self.alpha * f
        return improvements


class BatchTranscription(SequentialTranscription):
    """The batch rule, cell by cell from lists of what each cell accepts."""

    def add(self, cells, solutions, objectives, measures):
        old = {cell: self.t.get(cell, self.floor) for cell in cells}
        for cell, t in old.items():
            accepted = [
                (f, -i, tuple(x), tuple(m))
                for i, (c, x, f, m) in enumerate(zip(cells, solutions, objectives, measures, strict=True))
                if c == cell and f > t
            ]
            if not accepted:
                continue
            f, _, x, m = max(accepted)
            self.elite[cell] = (f, x, m)
            if self.floor == -math.inf:
                self.t[cell] = f
            else:
                kept = (1 - self.alpha) ** len(accepted)
                self.t[cell] = kept * t + (1 - kept) * math.fsum(a[0] for a in accepted) / len(accepted)
        return [f if old[c] == -math.inf else f - old[c] for c, f in zip(cells, objectives, strict=True)]


TRANSCRIPTIONS = {"sequential": SequentialTranscription, "batch": BatchTranscription}
