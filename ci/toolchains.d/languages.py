"""Programs of other languages."""
from dataclasses import dataclass
@dataclass(frozen=True)
class Row:
    language: str
    @property
    def name(self): return self.language
def rows(long): return []
class Languages:
    def __init__(self, memlog, recorders): pass
