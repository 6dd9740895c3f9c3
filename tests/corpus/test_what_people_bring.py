"""Files as people have them: each is understood, or refused with what would help."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from manylabel.corpus import Corpus, read
from manylabel.corpus.columns import Columns
from manylabel.corpus.encodings import Lines
from manylabel.corpus.texts import TextReader
from manylabel.exceptions import CorpusError, ParameterError

TEXTS = ["A cat, asleep.", "Der Hund bellt “laut” – größer."]
LABELS = [["cats", "sleep"], ["dogs"]]


def heard(path, **options) -> tuple[Corpus, list[str]]:
    said: list[str] = []
    return read(path, tell=said.append, **options), said


def check(corpus: Corpus, labels=LABELS) -> None:
    assert corpus.texts == TEXTS
    assert list(corpus.label_lists()) == labels


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


# Eight spreadsheets


def test_keywords_csv_with_title_abstract_and_keywords(file):
    rows = [
        f"T{row},{quoted(text)},{quoted(', '.join(labels))},1999"
        for row, (text, labels) in enumerate(zip(TEXTS, LABELS, strict=True))
    ]
    corpus, said = heard(file("Title,Abstract,Keywords,Year\n" + "\n".join(rows), "keywords.csv"))
    check(corpus)
    assert corpus.titles == ["T0", "T1"]
    assert said == [
        "Detected: text from 'Abstract', title from 'Title', labels from 'Keywords', split at ','.",
        "Ignored columns: Year.",
    ]


def test_semicolons_of_excel(file):
    rows = [
        f"{quoted(text)};{'|'.join(labels)};" for text, labels in zip(TEXTS, LABELS, strict=True)
    ]
    content = "sep=;\r\ncontent;tags;\r\n" + "\r\n".join(rows) + "\r\n;;\r\n;;\r\n"
    corpus, said = heard(file(content, "excel.csv"))
    check(corpus)
    assert said == ["Detected: text from 'content', labels from 'tags', split at '|'."]


def test_windows_1252(file):
    rows = "\r\n".join(
        f"{quoted(t)};{quoted('; '.join(ls))}" for t, ls in zip(TEXTS, LABELS, strict=True)
    )
    corpus, said = heard(file(f"Text;Subjects\r\n{rows}\r\n".encode("cp1252"), "alt.csv"))
    check(corpus)
    assert said[0] == "The file is not in UTF-8; it is read as Windows-1252."
    check(read(file(f"Text;Subjects\r\n{rows}\r\n".encode("cp1252"), "alt.csv"), encoding="cp1252"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_unicode_text_of_excel(file, encoding):
    rows = "\r\n".join(
        f"{quoted(t)}\t{quoted(', '.join(ls))}" if "," in t else f"{t}\t{ls[0]}"
        for t, ls in zip(TEXTS, LABELS, strict=True)
    )
    check(read(file(f"text\tlabels\r\n{rows}\r\n".encode(encoding), "unicode.txt")))


def test_columns_of_0_and_1(file):
    content = f'id,comment_text,cats,dogs,sleep\na,"{TEXTS[0]}",1,0,1\nb,{TEXTS[1]},0,1,0\n'
    path = file(content, "one-hot.csv")
    corpus, said = heard(path)
    check(corpus)
    assert corpus.ids == ["a", "b"]
    assert said == [
        "Detected: text from 'comment_text', labels from the 0/1 columns 'cats', 'dogs', 'sleep'."
    ]
    named = read(path, text_column="comment_text", label_column=["cats", "dogs"])
    check(named, [["cats"], ["dogs"]])
    rows = "".join(f"{n},x,1,0,0\n" for n in range(200))
    with pytest.raises(
        CorpusError, match="expected 0 or 1 in the column 'sleep', found '7'; name the label"
    ):
        read(file(content + rows + "c,text,0,1,7\n", "long.csv"))


def test_a_json_array(file):
    records = [{"body": t, "topics": ls, "n": 1} for t, ls in zip(TEXTS, LABELS, strict=True)]
    for indent in (None, 2):
        corpus, said = heard(file(json.dumps(records, indent=indent), "export.json"))
        check(corpus)
        assert said == [
            "Detected: text from 'body', labels from 'topics'.",
            "Ignored columns: n.",
        ]


def test_labels_as_one_string(file):
    lines = [
        json.dumps({"text": t, "labels": ", ".join(ls)})
        for t, ls in zip(TEXTS, LABELS, strict=True)
    ]
    check(read(file("\n".join(lines), "strings.jsonl")))
    python = [f"{quoted(t)},{quoted(str(ls))}" for t, ls in zip(TEXTS, LABELS, strict=True)]
    check(read(file("text,labels\n" + "\n".join(python), "pandas.csv")))


def test_columns_of_another_language(file):
    rows = "\n".join(
        f"{quoted(t)},{quoted(';'.join(ls))},7" for t, ls in zip(TEXTS, LABELS, strict=True)
    )
    path = file(f"Zusammenfassung,Schlagwörter,Nr\n{rows}", "deutsch.csv")
    with pytest.raises(
        CorpusError,
        match="expected 2 columns, found 3: 'Zusammenfassung', 'Schlagwörter', 'Nr'",
    ):
        read(path)
    check(read(path, text_column="Zusammenfassung", label_column="Schlagwörter"))
    with pytest.raises(
        CorpusError, match=r"'Schlagworter', but there is no .* Did you mean 'Schlagwörter'\?"
    ):
        read(path, text_column="Zusammenfassung", label_column="Schlagworter")


# Other programs' files


def test_several_columns_of_text(file):
    path = file("Head,Body,Tags\nOne,Two,x\n,Three,y\n", "t.csv")
    corpus = read(path, text_column=["Head", "Body"])
    assert corpus.texts == ["One\n\nTwo", "Three"]


def test_titles_alone_are_texts(file):
    corpus, said = heard(file("Title,Keywords\nOne,x\n", "t.csv"))
    assert corpus.texts == ["One"]
    assert said == ["Detected: text from 'Title', labels from 'Keywords'."]


def test_escaped_quotes_and_lone_carriage_returns(file):
    assert read(file('text,labels\n"say \\"a, b\\"",x\n', "t.csv")).texts == ['say "a, b"']
    assert read(file("text,labels\rone,x\rtwo,y\r", "mac.csv")).texts == ["one", "two"]


def test_excel_and_libreoffice(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["nothing", "here"])
    sheet = book.create_sheet("Data")
    sheet.append(["Title", "Abstract", "Keywords", "Year"])
    for text, labels in zip(TEXTS, LABELS, strict=True):
        sheet.append(["T", text, "; ".join(labels), 1999])
    sheet.append([None, None, None, None])
    book.save(tmp_path / "t.xlsx")
    corpus, said = heard(tmp_path / "t.xlsx")
    check(corpus)
    assert said[0] == "Read the sheet 'Data'; ignored: 'Sheet'."

    table, text = pytest.importorskip("odf.table"), pytest.importorskip("odf.text")
    opendocument = pytest.importorskip("odf.opendocument")
    book = opendocument.OpenDocumentSpreadsheet()
    sheet = table.Table(name="Data")
    book.spreadsheet.addElement(sheet)
    for cells in (
        ["text", "labels"],
        *([t, ";".join(ls)] for t, ls in zip(TEXTS, LABELS, strict=True)),
    ):
        row = table.TableRow()
        sheet.addElement(row)
        for cell in cells:
            made = table.TableCell(valuetype="string")
            made.addElement(text.P(text=cell))
            row.addElement(made)
    book.save(str(tmp_path / "t.ods"))
    check(read(tmp_path / "t.ods"))


def damaged_sheet(path):
    """A spreadsheet whose XML ends after its first rows."""
    opendocument, table = pytest.importorskip("odf.opendocument"), pytest.importorskip("odf.table")
    text = pytest.importorskip("odf.text")
    book = opendocument.OpenDocumentSpreadsheet()
    sheet = table.Table(name="Data")
    book.spreadsheet.addElement(sheet)
    for value in ("text", *TEXTS):
        row, cell = table.TableRow(), table.TableCell(valuetype="string")
        cell.addElement(text.P(text=value))
        row.addElement(cell)
        sheet.addElement(row)
    book.save(str(path))
    with zipfile.ZipFile(path) as sound:
        members = {name: sound.read(name) for name in sound.namelist()}
    content = members["content.xml"]
    members["content.xml"] = content[: content.rindex(b"<table:table-row")]
    with zipfile.ZipFile(path, "w") as broken:
        for name, member in members.items():
            broken.writestr(name, member)


def damaged_pdf(path):
    pytest.importorskip("pypdf")
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj\n<< /Type Kids [3 0 R] >>\nendobj\ntrailer\n"
        b"<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"
    )


@pytest.mark.parametrize(("name", "make"), [("t.ods", damaged_sheet), ("t.pdf", damaged_pdf)])
def test_a_damaged_office_file_gets_one_sentence_and_nothing_else(tmp_path, capfd, name, make):
    path = tmp_path / name
    make(path)
    with pytest.raises(
        CorpusError, match=rf"{name}: the file cannot be read as \.{name[2:]} \(.+\)"
    ):
        read(path)
    assert capfd.readouterr() == ("", "")


def test_parquet(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        pa.table({"content": TEXTS, "tags": LABELS, "n": [1, 2]}), tmp_path / "t.parquet"
    )
    corpus, said = heard(tmp_path / "t.parquet")
    check(corpus)
    assert said[1] == "Ignored columns: n."


def make_paper(folder, kind: str, text: str, title: str = "A title"):
    """A file of one document."""
    path = folder / f"paper.{kind}"
    if kind == "docx":
        document = pytest.importorskip("docx").Document()
        document.core_properties.title = title
        document.add_paragraph(text)
        document.save(path)
    elif kind == "html":
        path.write_text(
            f"<html><head><title>{title}</title><style>p {{}}</style></head>"
            f"<body><script>x()</script><p>{text}</p></body></html>",
            encoding="utf-8",
        )
    elif kind == "epub":
        with zipfile.ZipFile(path, "w") as book:
            book.writestr("mimetype", "application/epub+zip")
            book.writestr(
                "META-INF/container.xml",
                '<container><rootfiles><rootfile full-path="O/b.opf"/></rootfiles></container>',
            )
            book.writestr(
                "O/b.opf",
                f"<package><metadata><dc:title>{title}</dc:title></metadata><manifest>"
                '<item id="c" href="c.xhtml"/></manifest><spine><itemref idref="c"/>'
                "</spine></package>",
            )
            book.writestr("O/c.xhtml", f"<html><body><p>{text}</p></body></html>")
    else:
        path.write_bytes(make_pdf(text))
    return path


def make_pdf(text: str) -> bytes:
    """The smallest PDF with a line of text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 "
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    out, places = io.BytesIO(b"%PDF-1.4\n"), []
    out.seek(0, 2)
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    out.write(b"xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\n" % table)
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["docx", "pdf", "html", "epub"])
def test_papers_are_one_document_each(tmp_path, kind):
    (document,) = TextReader(make_paper(tmp_path, kind, "The penguin swims."))
    assert document.id == "paper"
    assert document.text == "The penguin swims."
    assert document.title == (None if kind == "pdf" else "A title")
    broken = tmp_path / f"broken.{kind}"
    broken.write_bytes(make_paper(tmp_path, kind, "x").read_bytes()[:40])
    if kind != "html":
        with pytest.raises(CorpusError, match=f"the file cannot be read as .{kind}"):
            read(broken)


def test_a_folder_for_each_label(tmp_path):
    for label, names in {"cats": ["a", "b"], "dogs": ["b", "c"]}.items():
        (tmp_path / label).mkdir()
        for name in names:
            (tmp_path / label / f"{name}.txt").write_text(f"text {name}")
    make_paper(tmp_path / "cats", "docx", "A paper.")
    corpus = read(tmp_path)
    assert corpus.texts == ["text a", "text b", "text c", "A paper."]
    assert list(corpus.label_lists()) == [["cats"], ["cats", "dogs"], ["dogs"], ["cats"]]
    assert corpus.ids == ["cats/a", "cats/b", "dogs/c", "cats/paper"]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "t.xls", "an old Office format; save the file as .xlsx"),
        (b"PK\x03\x04 what", "t.zip", "this is a ZIP archive; unpack it"),
        (b"\x89PNG\r\n\0\0\xff", "t.png", "this is not text: it contains zero bytes"),
        (b"text,labels\n\x93one\x94,x\n\x81,y\n", "t.csv", "in Windows-1252, found invalid bytes"),
    ],
)
def test_what_is_no_text_is_refused(file, content, name, message):
    with pytest.raises(CorpusError, match=message):
        read(file(content, name))


def test_a_missing_library_is_named(file, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(
        ImportError, match=r"needs openpyxl; install it with: pip install 'manylabel\[files\]'"
    ):
        read(file(b"PK\x03\x04 xl/", "t.xlsx"))


def test_options_that_make_no_sense_are_refused(file, tmp_path):
    path = file("text,labels\na,b\n", "t.csv")
    with pytest.raises(ParameterError, match="`encoding` must be a name such as utf-8"):
        read(path, encoding="utf-7000")
    with pytest.raises(ParameterError, match="`delimiter` must be one character"):
        read(path, delimiter=";;")


def test_bad_rows_are_skipped_where_that_was_asked_for(file):
    path = file('text,labels\none,x\n"two"2,y\nthree\nfour,z\n', "t.csv")
    bad: list[int | None] = []
    reader = TextReader(path, columns=Columns(), on_bad=lambda error, n: bad.append(error.line))
    assert [document.text for document in reader] == ["one", "four"]
    assert bad == [3, 4]
    assert reader.row == 3


def test_the_first_foreign_letter_decides_on_the_encoding(file):
    from manylabel.corpus.files import open_source

    def lines(content: bytes) -> list[str]:
        with open_source(file(content)) as source:
            return list(Lines(source, True, lambda sentence: None))

    assert lines(b"plain\n" * 3 + b"\x80\n\xc3\xa9\n")[-2:] == ["€\n", "Ã©\n"]
    with pytest.raises(CorpusError, match="line 2: expected UTF-8 text, found byte 0x80"):
        lines("é\n".encode() + b"\x80\n")


# Their relatives


def test_names_of_columns_below_merged_headings(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Article", None, "Subject"], ["Title", "Abstract", "Keywords"]):
        book.active.append(row)
    for text, labels in zip(TEXTS, LABELS, strict=True):
        book.active.append(["T", text, "; ".join(labels)])
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "t.xlsx")
    corpus, said = heard(tmp_path / "t.xlsx")
    check(corpus)
    assert said[1] == "The header is row 2. The row above is ignored."


@pytest.mark.parametrize("columns", [{}, {"text_column": "Abstract"}])
def test_names_of_columns_below_a_title(file, columns):
    rows = [f"{quoted(t)};{'|'.join(labels)}" for t, labels in zip(TEXTS, LABELS, strict=True)]
    content = "\n".join(["Export of 1 January", "", "by us", "Abstract;Keywords", *rows])
    corpus, said = heard(file(content, "t.csv"), **columns)
    check(corpus)
    assert said[1] == "The header is row 3. The rows above are ignored."


def test_a_document_that_looks_like_names_is_a_document(file):
    corpus, said = heard(file("text,labels\nabstract,keywords\n", "t.csv"))
    assert (corpus.texts, said) == (["abstract"], [])


@pytest.mark.parametrize(("yes", "no"), [("yes", "no"), ("WAHR", "FALSCH"), ("x", ""), ("1", "0")])
def test_words_for_1_and_0(file, yes, no):
    rows = [f"{quoted(TEXTS[0])},{yes},{no},{yes}", f"{quoted(TEXTS[1])},{no},{yes},{no}"]
    corpus, _ = heard(file("\n".join(["text,cats,dogs,sleep", *rows]), "t.csv"))
    check(corpus)


@pytest.mark.parametrize(
    "rows",
    [
        ["text,labels", '"{0}",cats; sleep;', '"{1}", ; dogs ;;'],
        ["text,labels,", '"{0}",cats; sleep,', '"{1}",dogs,'],
        ["text,labels,year", "", ",,", '"{0}",cats; sleep,', ",,", '"{1}",dogs,1999', ",,"],
        ["sep=,", "text,labels", '"{0}",cats; sleep', '"{1}",dogs'],
        ["text,labels,labels", '"{0}",cats; sleep,birds', '"{1}",dogs,birds'],
    ],
    ids=["trailing separators", "trailing column", "empty rows", "sep=", "a name twice"],
)
def test_untidy_tables(file, rows):
    corpus, said = heard(file("\ufeff" + "\n".join(rows).format(*TEXTS), "t.csv"))
    check(corpus)
    if rows[0].endswith("labels,labels"):
        assert said == ["Ignored columns: labels."]


def test_numbers_and_what_is_not_a_number_as_labels(file):
    records = '{"text": "a", "labels": 7}\n{"text": "b", "labels": NaN}\n{"text": "c"}\n'
    assert list(read(file(records, "t.jsonl")).label_lists()) == [["7"], [], []]


def test_documents_inside_an_object_are_pointed_at(file):
    content = json.dumps({"articles": [{"text": "a", "labels": ["b"]}] * 3})
    with pytest.raises(CorpusError, match="found a list of 3 objects in 'articles'; give only"):
        read(file(content, "t.json"))


def test_rows_with_other_delimiters_are_refused(file):
    with pytest.raises(CorpusError, match="line 3: expected 2 columns, found 1"):
        read(file("text;labels\na b;c\nd e,f\n", "t.csv"))
