"""Suggest, correct, learn: the next answer knows the correction. Forget, and it does not."""

from pathlib import Path

from manylabel import Tagger

tagger = Tagger("lcif").fit(Path(__file__).parent / "articles.csv")
text = "Wild bees live in hollow trees of old forests."
print("before:", tagger.suggest(text, top=4).labels)

tagger.learn([text], [["forest bees"]], ids=["correction-1"])
question = "Bees in hollow trees"
print("learned:", tagger.suggest(question, top=4).labels)

tagger.forget("correction-1")
print("forgotten:", tagger.suggest(question, top=4).labels)
