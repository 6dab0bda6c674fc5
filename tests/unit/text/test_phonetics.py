import pytest

from latence_retrieval.text.phonetics import plain_soundex, soundex


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("robert", "r163"),
        ("rupert", "r163"),
        ("rubin", "r150"),
        ("ashcraft", "a261"),
        ("tymczak", "t522"),
        ("pfister", "p236"),
        ("honeyman", "h555"),
        ("lee", "l000"),
        ("ada lovelace", "a341"),
    ],
)
def test_soundex_follows_the_archive_rules(name, code):
    assert soundex(name) == code
    assert plain_soundex(name.replace(" ", "")) == code


@pytest.mark.parametrize("form", ["", "42", "東京", "лев"])
def test_a_form_without_latin_letters_has_no_code(form):
    assert soundex(form) == ""
