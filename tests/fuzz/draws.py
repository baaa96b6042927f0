"""Choices that are read from bytes: every input of the campaign is decoded from one string of bytes.

The bytes are random, or come from a coverage-guided fuzzer. Where they end, every choice is the first one.
"""

import random

DATA_BYTES = 2048


def data_of(seed):
    """The bytes of the input with this seed."""
    return random.Random(seed).randbytes(DATA_BYTES)


class Draw:
    """Reads choices from bytes, and keeps what was chosen for the report of a failure."""

    def __init__(self, data):
        self._data, self._at = data, 0
        self.notes = {}

    def note(self, **values):
        """Remember values. They are only turned into text if the input fails."""
        self.notes.update(values)

    def bits(self, n_bytes):
        at, self._at = self._at, self._at + n_bytes
        return int.from_bytes(self._data[at : at + n_bytes], "little")

    def below(self, n):
        """A whole number from 0 to n - 1."""
        return self.bits(1 if n <= 16 else 2 if n <= 4096 else 8) % n

    def between(self, least, most):
        return least + self.below(most - least + 1)

    def choice(self, values):
        return values[self.below(len(values))]

    def chance(self, probability):
        """True with this probability; False where the bytes have ended."""
        return self.bits(2) >= 65536 * (1.0 - probability)

    def unit(self):
        """A number from 0 to 1, without 1."""
        return self.bits(6) / 2.0**48

    def log_uniform(self, least, most):
        """A number between two powers of ten, given by their exponents."""
        return 10.0 ** (least + (most - least) * self.unit())

    def shuffled(self, values):
        values = list(values)
        for i in range(len(values) - 1, 0, -1):
            j = self.below(i + 1)
            values[i], values[j] = values[j], values[i]
        return values

    def some(self, values):
        """A few of these values, in any order."""
        values = self.shuffled(values)
        return values[: self.between(0, len(values))]

    def rest(self, most=512):
        """Bytes as they are."""
        n = self.below(most)
        at, self._at = self._at, self._at + n
        return self._data[at : at + n]
