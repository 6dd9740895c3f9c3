"""Why a label was given: words and documents whose shares add up to the score."""

from math import isclose
from pathlib import Path

from manylabel import Tagger

tagger = Tagger("lcif").fit(Path(__file__).parent / "articles.csv")
why = tagger.explain("Bees on a hotel roof in the city find flowers", top=1)[0]
print(f"{why.name}: {why.score:.4f}")
for part in why.parts:
    print(f"{part.share:+.4f} {part.title}")
for neighbour in why.neighbours[:2]:
    print(f"{neighbour.share:+.4f} {neighbour.text[:40]}")
assert isclose(sum(part.share for part in why.parts), why.score)
