"""Languages that are detected, and words of many languages."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel import Tagger
from manylabel.exceptions import InputError, MissingExtraError, ParameterError
from manylabel.text import CountVectorizer
from manylabel.text.languages import DETECTED, detect_language, detect_languages
from manylabel.vocabulary import Concept, Name, Vocabulary

#: The first article of the Universal Declaration of Human Rights.
ARTICLE = {
    "en": (
        "All human beings are born free and equal in dignity and rights. They are endowed "
        "with reason and conscience and should act towards one another in a spirit of "
        "brotherhood."
    ),
    "de": (
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit "
        "Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit "
        "begegnen."
    ),
    "fr": (
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont "
        "doués de raison et de conscience et doivent agir les uns envers les autres dans un "
        "esprit de fraternité."
    ),
    "es": (
        "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados "
        "como están de razón y conciencia, deben comportarse fraternalmente los unos con los "
        "otros."
    ),
    "it": (
        "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono "
        "dotati di ragione e di coscienza e devono agire gli uni verso gli altri in spirito "
        "di fratellanza."
    ),
    "pt": (
        "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de "
        "razão e de consciência, devem agir uns para com os outros em espírito de "
        "fraternidade."
    ),
    "nl": (
        "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn "
        "begiftigd met verstand en geweten, en behoren zich jegens elkander in een geest van "
        "broederschap te gedragen."
    ),
    "sv": (
        "Alla människor är födda fria och lika i värde och rättigheter. De är utrustade med "
        "förnuft och samvete och bör handla gentemot varandra i en anda av broderskap."
    ),
    "da": (
        "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med "
        "fornuft og samvittighed, og de bør handle mod hverandre i en broderskabets ånd."
    ),
    "no": (
        "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. De er "
        "utstyrt med fornuft og samvittighet og bør handle mot hverandre i brorskapets ånd."
    ),
    "fi": (
        "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille "
        "on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden "
        "hengessä."
    ),
}
SHORT = {
    "en": [
        "The library opens at nine in the morning.",
        "How to keep bees in a small garden",
        "An introduction to the history of art",
    ],
    "de": [
        "Die Bibliothek öffnet um neun Uhr morgens.",
        "Wie man Bienen in einem kleinen Garten hält",
        "Eine Einführung in die Geschichte der Kunst",
    ],
    "fr": [
        "La bibliothèque ouvre à neuf heures du matin.",
        "Comment élever des abeilles dans un petit jardin",
        "Une introduction à l'histoire de l'art",
    ],
    "es": [
        "La biblioteca abre a las nueve de la mañana.",
        "Cómo criar abejas en un pequeño jardín",
        "Una introducción a la historia del arte",
    ],
    "it": [
        "La biblioteca apre alle nove del mattino.",
        "Come allevare le api in un piccolo giardino",
        "Un'introduzione alla storia dell'arte",
    ],
    "pt": [
        "A biblioteca abre às nove da manhã.",
        "Como criar abelhas num pequeno jardim",
        "Uma introdução à história da arte",
    ],
    "nl": [
        "De bibliotheek gaat om negen uur 's ochtends open.",
        "Hoe houd je bijen in een kleine tuin",
        "Een inleiding tot de geschiedenis van de kunst",
    ],
    "sv": [
        "Biblioteket öppnar klockan nio på morgonen.",
        "Hur man håller bin i en liten trädgård",
        "En introduktion till konstens historia",
    ],
    "da": [
        "Biblioteket åbner klokken ni om morgenen.",
        "Hvordan man holder bier i en lille have",
        "En indføring i kunstens historie af en professor",
    ],
    "no": [
        "Biblioteket åpner klokken ni om morgenen.",
        "Hvordan holde bier i en liten hage",
        "En innføring i kunstens historie av en professor",
    ],
    "fi": [
        "Kirjasto avataan kello yhdeksän aamulla.",
        "Mehiläisten hoito pienessä puutarhassa",
        "Johdatus taiteen historiaan",
    ],
}


@pytest.mark.parametrize("code", DETECTED)
def test_a_sentence_or_two_tell_the_language(code):
    found = detect_language(ARTICLE[code])
    assert found[0][0] == code
    assert found[0][1] > 0.9
    assert sum(share for _, share in found) == pytest.approx(1)


def test_most_titles_tell_the_language():
    found = [detect_language(title)[0][0] == code for code in SHORT for title in SHORT[code]]
    assert len(found) == 33
    # Danish and Norwegian, above all, cannot always be told apart by five words.
    assert sum(found) >= 28
    many = {code: detect_languages(titles) for code, titles in SHORT.items()}
    assert sum(code == detected for code, detected in many.items()) >= 10


def test_languages_are_chosen_from():
    assert {code for code, _ in detect_language(ARTICLE["de"], ["fi", "sv"])} == {"fi", "sv"}
    with pytest.raises(ParameterError, match=r"`languages` must hold some of da, de, .* got 'xx'"):
        detect_language("a text", ["xx"])
    assert detect_language("123 ...") == []
    assert detect_languages([]) is None


@given(st.text())
def test_any_text_has_an_answer(text):
    found = detect_language(text)
    assert not found or sum(share for _, share in found) == pytest.approx(1)


def test_a_tagger_detects_the_language(tmp_path):
    texts = [*SHORT["fi"], ARTICLE["fi"]] * 3
    vocabulary = Vocabulary([Concept("c1", [Name("kirjastot", language="fi")])])
    tagger = Tagger(language="auto", vocabulary=vocabulary, features="words")
    tagger.fit(texts, [["c1"], ["c2"], ["c3"], ["c1"]] * 3)
    assert tagger.text_language == "fi"
    assert tagger._state.vectorizer.stop_words == "finnish"
    tagger.save(tmp_path / "m")
    again = Tagger.load(tmp_path / "m")
    assert again.text_language == "fi"
    again.set_vocabulary(vocabulary)
    assert again._state.labels.language == "fi"
    assert again.suggest("Kirjastossa", top=1).labels == ["c1"]
    again.compact(retrain=True)
    assert again.text_language == "fi"
    assert Tagger(language="auto", vocabulary=vocabulary).fit().text_language == "fi"
    several = Vocabulary([Concept("c", [Name("a", language="fi"), Name("b", language="sv")])])
    with pytest.raises(InputError, match="cannot be detected without documents"):
        Tagger(language="auto", vocabulary=several).fit()


def test_languages_without_stop_words_are_stemmed():
    vocabulary = Vocabulary([Concept("c1", [Name("könyvek", language="hu")])])
    tagger = Tagger(language="hu", vocabulary=vocabulary).fit()
    assert tagger.suggest("Sok könyvet olvas", top=1).labels == ["c1"]


def test_lemmas_stand_for_words():
    pytest.importorskip("simplemma", reason="needs the extra lemmas")
    # Small dictionaries are read quickly.
    counts = CountVectorizer(stemming="simplemma-it")
    counts.fit(["i gatti nelle case"])
    assert {"gatto", "casa"} <= set(counts.get_feature_names_out())
    vocabulary = Vocabulary([Concept("c1", [Name("bók", language="is")])])
    tagger = Tagger(language="is", vocabulary=vocabulary).fit()
    assert tagger.suggest("Hún les bækur", top=1).labels == ["c1"]
    with pytest.raises(ParameterError, match="simplemma does not support the language 'xx'"):
        CountVectorizer(stemming="simplemma-xx").fit(["a b"])


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "simplemma", None)
    with pytest.raises(MissingExtraError, match=r"manylabel\[lemmas\]"):
        CountVectorizer(stemming="simplemma-cy").fit(["llyfrau yma"])
