"""Pairs of words as a separate view, from training to explanations."""

import numpy as np
import pytest

from manylabel import Ensemble, Tagger
from manylabel.corpus import Corpus
from manylabel.exceptions import InputError
from manylabel.scoring import Documents
from manylabel.tagger import features

PAIRS = ["red wine", "wine red", "green tea", "tea green"]


def drinks(seed: int = 0, n: int = 240) -> Corpus:
    """Texts of the same words, whose labels depend on which of them stand together."""
    rng = np.random.default_rng(seed)
    fill = [f"filler{i}" for i in range(12)]
    kinds = rng.integers(0, 4, n)
    texts = []
    for kind in kinds:
        other = PAIRS[kind ^ 1].split()
        words = [
            *rng.choice(fill, 3),
            PAIRS[kind],
            *rng.choice(fill, 3),
            other[0],
            rng.choice(fill),
            other[1],
        ]
        texts.append(" ".join(words))
    return Corpus.from_texts(texts, [[PAIRS[kind].upper()] for kind in kinds])


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr("manylabel.tagger.training.MIN_FOR_VIEWS", 100)


@pytest.fixture(scope="module")
def tagger():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manylabel.tagger.training.MIN_FOR_VIEWS", 100)
        return Tagger(language=None, parameters={"k": 20}).fit(drinks())


def test_a_view_that_helps_is_kept(tagger):
    assert list(tagger._state.views) == ["phrases"]
    assert tagger._state.model.views_ == {"phrases"}
    test = drinks(1, 60)
    words = Tagger(language=None, parameters={"k": 20}, features="words").fit(drinks())
    assert words._state.views == {}
    assert tagger.evaluate(test)["p@1"] > words.evaluate(test)["p@1"] + 0.2


def test_a_view_that_does_not_help_is_dropped(monkeypatch):
    def without_phrases(held_out, protected):
        names = list(held_out.scores)
        return [n for n in names if n != "phrases"], dict.fromkeys(names, 0.0)

    monkeypatch.setattr("manylabel.ensemble.ensemble.choose_scorers", without_phrases)
    tagger = Tagger(language=None, parameters={"k": 20}).fit(drinks())
    assert tagger._state.views == {}
    assert "phrases" in tagger._state.model.report_.alone


def test_pairs_are_found_in_the_text_and_shares_add_up(tagger):
    text = "filler1 Red wine, filler2 tea"
    (why,) = tagger.explain(text, label="RED WINE")
    assert why.total == pytest.approx(why.score, abs=1e-6)
    assert why.score == pytest.approx(np.log(why.probability / (1 - why.probability)), abs=1e-6)
    assert "phrases" in [part.kind for part in why.parts]
    pair = next(word for word in why.words if word.word == "Red wine")
    assert pair.spans == [(8, 16)]
    assert pair.share > 0
    assert (8, 16) in [(start, end) for start, end, _ in why.highlights()]


def test_views_are_saved(tagger, tmp_path):
    tagger.save(tmp_path / "model")
    same = Tagger.load(tmp_path / "model")
    for text in drinks(2, 10).texts:
        assert same.suggest(text) == tagger.suggest(text)


def test_documents_come_and_go(tmp_path):
    corpus = drinks()
    tagger = Tagger(language=None, parameters={"k": 20}).fit(corpus)
    tagger.save(tmp_path / "model")
    change = tagger.learn(
        ["red wine with filler1", "green filler3 tea"], [["NEW"], ["NEW"]], ["a", "b"]
    )
    assert "phrases" in change.not_updated
    tagger.learn(["red wine with filler2"], [["NEW"]], ["c"])
    assert "NEW" in tagger.suggest("red wine with filler1", top=None).labels
    other = Tagger.load(tmp_path / "model")
    assert other.suggest("wine red filler1") == tagger.suggest("wine red filler1")
    tagger.forget(["a", "b", "c"])
    tagger.compact()
    assert tagger.suggest("wine red filler1", top=1).labels == ["WINE RED"]
    tagger.compact(retrain=True)
    fresh = Tagger(language=None, parameters={"k": 20}).fit(corpus)
    for text in drinks(3, 10).texts:
        assert tagger.suggest(text) == fresh.suggest(text)


def test_a_view_without_features_is_left_out():
    texts = [f"word{i % 7}" for i in range(150)]
    tagger = Tagger(language=None).fit(texts, [[f"label{i % 7}"] for i in range(150)])
    assert tagger._state.views == {}


def test_how_long_texts_begin_is_a_view_that_is_explained(tmp_path, monkeypatch):
    monkeypatch.setitem(features.VIEWS["opening"], "lead", 3)
    monkeypatch.setattr(
        "manylabel.tagger.tagger.choose_features",
        lambda texts, Y, vectorizer, **_: vectorizer.set_params(lead=3, lead_weight=2),
    )
    rng, fill = np.random.default_rng(0), [f"filler{i}" for i in range(30)]
    kinds = rng.integers(0, 3, 150)
    names = ["wine", "tea", "milk"]
    texts = [
        " ".join([rng.choice(fill), names[kind], *rng.choice(fill, 5), *rng.permutation(names)])
        for kind in kinds
    ]
    tagger = Tagger(language=None, parameters={"k": 20})
    tagger.fit(texts, [[names[kind].upper()] for kind in kinds])
    assert "opening" in tagger._state.views
    text = "filler1 Tea filler2 milk wine tea"
    (why,) = tagger.explain(text, label="TEA")
    assert why.total == pytest.approx(why.score, abs=1e-6)
    assert "opening" in [part.kind for part in why.parts]
    tagger.save(tmp_path / "model")
    assert Tagger.load(tmp_path / "model").suggest(text) == tagger.suggest(text)
    assert tagger.suggest([text, "milk"])[0] == tagger.suggest(text)


def test_every_view_has_a_scorer():
    from manylabel.ensemble.scorers import make_scorers

    assert features.VIEWS.keys() <= {scorer.view for scorer in make_scorers("auto")}


def test_an_ensemble_that_must_read_a_view_says_which_is_missing():
    X, Y = np.eye(4) + 1, np.eye(4)
    with pytest.raises(InputError, match="have no view 'phrases'; they have counts, rows"):
        Ensemble(k=2, scorers=["neighbours", "phrases"]).fit(X, Y)


def test_documents_are_stacked_with_their_views():
    X = Documents(np_csr([[1, 2], [3, 4]]), texts=["a", "b"], views={"v": np_csr([[5], [6]])})
    both = Documents.stacked([X[[1]], X[[0]]])
    assert both.counts.toarray().tolist() == [[3, 4], [1, 2]]
    assert both.texts == ["b", "a"]
    assert both.view("v").toarray().tolist() == [[6], [5]]


def np_csr(rows):
    from scipy import sparse

    return sparse.csr_array(np.array(rows, float))
