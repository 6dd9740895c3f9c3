"""Labels by name."""

from __future__ import annotations

import pytest

from manylabel.exceptions import CorpusError, InputError
from manylabel.tagger.labels import LabelInfo, Labels, read_label_info


@pytest.mark.parametrize("n_others", [10, 5000])
@pytest.mark.parametrize("asked", ["Shipwrecs", "shipwrecks"])
def test_a_misspelled_label_gets_a_suggestion(n_others, asked):
    labels = Labels([*(f"label number {n}" for n in range(n_others)), "Shipwrecks"], {})
    with pytest.raises(InputError, match=r"labels known\); did you mean 'Shipwrecks'\?"):
        labels.columns([asked], "include")


def test_names_of_labels_are_read_like_a_vocabulary(tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("<http://x/1>\tKatzen\tTiere, klein.\nfish\nbirds\tVögel\tAves\n")
    found = read_label_info(path)
    assert found == {
        "http://x/1": LabelInfo("http://x/1", "Katzen", "Tiere, klein."),
        "fish": LabelInfo("fish", "fish", ""),
        "birds": LabelInfo("birds", "Vögel", "Aves"),
    }
    labels = Labels(["<http://x/1>", "fish"], found)
    assert labels.name("<http://x/1>") == "Katzen"
    assert labels.info("fish").name == "fish"
    path.write_text("fish\n#birds\n")
    assert list(read_label_info(path)) == ["fish", "#birds"]
    path.write_text('{"id": "a", "name": "A", "description": "The first."}\n{"name": "b"}\n')
    with pytest.raises(CorpusError, match=r'labels.tsv, line 2: expected a JSON object with "id"'):
        read_label_info(path)
    path.write_text("uri,label_en\nc1,cats\n")
    assert read_label_info(path)["c1"].name == "cats"
