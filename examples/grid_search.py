"""scikit-learn chooses how many neighbours a tagger asks."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import GridSearchCV

from manylabel import Tagger

articles = pd.read_csv(Path(__file__).parent / "articles.csv")
texts, labels = articles["Abstract"], articles["Keywords"].str.split("; ")

choices = {"parameters": [{"k": 2}, {"k": 4}, {"k": 8}]}
search = GridSearchCV(Tagger("lcif"), choices, cv=2).fit(texts, labels)
print("best:", search.best_params_["parameters"])
print(search.best_estimator_.suggest("Bees on the roof of a city hotel", top=2).labels)
