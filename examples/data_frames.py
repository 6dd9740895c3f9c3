"""From a pandas data frame to suggestions in a data frame."""

from pathlib import Path

import pandas as pd

from manylabel import Tagger

HERE = Path(__file__).parent

articles = pd.read_csv(HERE / "articles.csv")
new = pd.read_csv(HERE / "new-articles.csv")

tagger = Tagger("lcif").fit(articles, text="Abstract", labels="Keywords", title="Title")
answer = tagger.suggest(new, top=2).to_frame()
print(answer.join(new["Title"], on="document")[["Title", "label", "score"]].to_string(index=False))
