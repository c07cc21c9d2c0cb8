"""The rows that rows name, kept small: most name one that is near."""

from __future__ import annotations

from typing import Final

import numpy as np

_NONE: Final = 0
_NEAREST: Final = 1
"""Codes of distances: of a row that names none, and of a distance of 0. The largest one says that it is kept beside."""

_WIDER: Final = {np.dtype(np.uint8): np.uint16, np.dtype(np.uint16): np.uint32}
_MOST_BESIDE: Final = 8
"""One row of so many may be kept beside; where there are more, codes get wider."""


class Distances:
    """For each row the one that it names, as the distance to it, and the few that are far beside.

    Args:
        first: The first row.
        count: So many rows.
    """

    def __init__(self, first: int, count: int) -> None:
        self._first = first
        self._codes: np.ndarray = np.zeros(count, np.uint8)
        self._places = np.zeros(0, np.uint32)
        self._named = np.zeros(0, np.uint32)
        self._new: list[tuple[np.ndarray, np.ndarray]] = []
        self._beside = 0

    @property
    def nbytes(self) -> int:
        """The memory that is taken."""
        return self._codes.nbytes + self._places.nbytes + self._named.nbytes

    def __len__(self) -> int:
        return len(self._codes)

    def put(self, place: int, named: np.ndarray) -> None:
        """Keep what the rows from a place on name; 0 for none. Places come in ascending order."""
        places = np.arange(place, place + len(named))
        self._codes[place : place + len(named)] = self._coded(places, named)
        if self._beside * _MOST_BESIDE > place + len(named) and self._codes.dtype in _WIDER:
            self.finish()
            self._widen()

    def finish(self) -> None:
        """Put together what is kept beside."""
        places = [self._places, *(places for places, _ in self._new)]
        named = [self._named, *(named for _, named in self._new)]
        self._places, self._named, self._new = _narrow(np.concatenate(places)), _narrow(np.concatenate(named)), []

    def _widen(self) -> None:
        self._codes = self._codes.astype(_WIDER[self._codes.dtype])
        places, named = self._places.astype(np.int64), self._named
        self._places, self._named, self._beside = self._places[:0], self._named[:0], 0
        self._codes[places] = self._coded(places, named)
        self.finish()

    def _coded(self, places: np.ndarray, named: np.ndarray) -> np.ndarray:
        """The codes of what rows at some places name; those that are far are put beside."""
        far = np.iinfo(self._codes.dtype).max
        distances = places + self._first - named.astype(np.int64)
        codes = np.where((distances < 0) | (distances >= far - _NEAREST), far, distances + _NEAREST)
        codes[named == 0] = _NONE
        beside = np.flatnonzero(codes == far)
        if len(beside):
            self._new.append((places[beside], named[beside]))
            self._beside += len(beside)
        return codes

    def __getitem__(self, places: np.ndarray | slice) -> np.ndarray:
        if isinstance(places, slice):
            places = np.arange(*places.indices(len(self)))
        codes = self._codes[places]
        found = places.astype(np.int64) + (self._first + _NEAREST) - codes
        found[codes == _NONE] = 0
        far = np.flatnonzero(codes == np.iinfo(codes.dtype).max)
        if len(far):
            found[far] = self._named[np.searchsorted(self._places, places[far].astype(self._places.dtype))]
        return np.asarray(found)


def _narrow(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
