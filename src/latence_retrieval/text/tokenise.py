"""Words with their places in the original text, each in its normal form.

Scripts without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) give one token a character. Letters and digits part
company, so that `AX100` and `AX-100` are the same two tokens. Full-width signs are read as their ASCII twins. A
possessive `'s` is dropped, an elided article (`l'`, `d'`) too, other apostrophes close up (`O'Brien`). Runs of initials
are one token (`J. R. R.`, `U.S.A.`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple, cast

from latence_retrieval.text.normalise import fold, narrow

__all__ = ["Token", "Words", "is_spaceless", "tokenise", "words_of"]


class Token(NamedTuple):
    """A normal form and the characters `start` to `end` (excluded) of the text that it stands for."""

    form: str
    start: int
    end: int


_token = cast("Callable[[tuple[str, int, int]], Token]", partial(tuple.__new__, Token))  # thrice as quick


class Words(NamedTuple):
    """Tokens by column, parallel: quicker to make than a `Token` each, where a text is long."""

    forms: list[str]
    starts: list[int]
    ends: list[int]

    def tokens(self) -> list[Token]:
        """Return one `Token` each."""
        return list(map(_token, zip(*self, strict=True)))

    def extend(self, words: Words) -> None:
        """Append further tokens."""
        self.forms.extend(words.forms)
        self.starts.extend(words.starts)
        self.ends.extend(words.ends)


_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Combining characters are no `\w` for Python, so the blocks that need them inside words are named.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
    "\u0f18-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\u00ad"
)
_APOSTROPHE = "'\u2019\u2018\u201b\u2032\u02b9\u02bb\u02bc\u02be\u02bf\u0060\u00b4"  # and what stands for ayn and hamza
_LETTER = rf"(?:[^\W\d_{_SPACELESS}]|[{_MARKS}])"
_CHARACTER = rf"[{_SPACELESS}][{_MARKS}\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\uff9e\uff9f]*"
_SCAN = re.compile(
    rf"(?P<code>[A-Za-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<char>{_CHARACTER})"
    rf"|(?P<word>(?:{_LETTER}|\d)+(?:[{_APOSTROPHE}](?:{_LETTER}|\d)+)*)"
    rf"|(?P<and>&)"
)
_ASCII_WORD = r"[a-z0-9]++(?:['`][a-z0-9]++)*+|&"
_ASCII_SCAN = re.compile(rf"([a-z](?:\+\+|#)(?!\w)|{_ASCII_WORD})")  # of text in lower case
_ASCII_PLAIN_SCAN = re.compile(f"({_ASCII_WORD})")
_PIECES = re.compile(rf"{_LETTER}+|\d+")
_FORMS = re.compile(rf"{_CHARACTER}|{_LETTER}+|\d+")
_APOSTROPHES = re.compile(f"[{_APOSTROPHE}]")
_ELIDED = frozenset({"l", "d", "qu", "dell", "nell", "sull"})
_WORDS_OF_ONE_LETTER = frozenset("aio")


def tokenise(text: str) -> list[Token]:
    """Return the tokens of `text` in reading order; [] where it has no letter or digit.

    Tokens never overlap, but pieces that only folding tells apart (`½`, `4'x`) all stand where their word stands.
    """
    text = narrow(text)
    tokens = _ascii_words(text).tokens() if text.isascii() else _tokens(text)
    return _join_initials(text, tokens) if _may_hold_initials([form for form, _, _ in tokens]) else tokens


def words_of(text: str) -> Words:
    """Return the tokens of `text` by column: what `tokenise` returns, without an object each where none is needed."""
    if text.isascii():
        words = _ascii_words(text)
        if not _may_hold_initials(words.forms):
            return words
    return _by_column(tokenise(text))


def _by_column(tokens: Sequence[Token]) -> Words:
    return Words([form for form, _, _ in tokens], [start for _, start, _ in tokens], [end for _, _, end in tokens])


def _ascii_words(text: str) -> Words:
    """Split at once, and look again at the few words that are neither letters nor digits throughout."""
    scan = _ASCII_SCAN if "+" in text or "#" in text else _ASCII_PLAIN_SCAN
    parts = scan.split(text.lower())  # what stands between words, and words, in turn
    places = list(accumulate(map(len, parts)))
    forms, starts, ends = parts[1::2], places[:-1:2], places[1::2]
    if "".join(forms).isalpha():
        return Words(forms, starts, ends)
    mixed = Words([], [], [])
    done = 0
    for at in [at for at, form in enumerate(forms) if not (form.isalpha() or form.isdecimal())]:
        mixed.extend(Words(forms[done:at], starts[done:at], ends[done:at]))
        mixed.extend(_by_column(_mixed_word(forms[at], starts[at])))
        done = at + 1
    mixed.extend(Words(forms[done:], starts[done:], ends[done:]))
    return mixed


def _mixed_word(word: str, start: int) -> list[Token]:
    if word == "&":
        return [Token("and", start, start + 1)]
    if word[-1] in "+#":
        return [Token(word, start, start + len(word))]
    tokens: list[Token] = []
    _add_word(tokens, word, start)
    return tokens


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    for match in _SCAN.finditer(text):
        kind = match.lastgroup
        if kind == "word":
            _add_word(tokens, match.group(), match.start())
        else:
            forms = ("and",) if kind == "and" else (match.group().lower(),) if kind == "code" else _forms(match.group())
            tokens.extend(Token(form, match.start(), match.end()) for form in forms)
    return tokens


def is_spaceless(form: str) -> bool:
    """Return whether a token belongs to a script that is written without spaces."""
    return not form.isascii() and _SPACELESS_START.match(form) is not None


_SPACELESS_START = re.compile(f"[{_SPACELESS}]")


def _add_word(tokens: list[Token], word: str, start: int) -> None:
    """Append the tokens of one run of letters, digits and inner apostrophes."""
    end = start + len(word)
    parts = _APOSTROPHES.split(word)
    if len(parts) > 1:
        if parts[-1] in ("s", "S"):
            end -= 2
            word = word[:-2]
            parts.pop()
        if len(parts) > 1 and parts[0].lower() in _ELIDED and len(word) - len(parts[0]) > 3:
            start += len(parts[0]) + 1
            word = word[len(parts[0]) + 1 :]
            parts.pop(0)
        if len(parts) > 1:
            tokens.extend(Token(form, start, end) for form in _forms("".join(parts)))
            return
    for piece in _PIECES.finditer(word):
        begin, stop = start + piece.start(), start + piece.end()
        tokens.extend(Token(form, begin, stop) for form in _forms(piece.group()))


def _forms(piece: str) -> Sequence[str]:
    """Return the forms of one piece: most have one; a compatibility character (`½`, `ﷺ`) may stand for several."""
    folded = fold(piece)
    if folded.isalpha() and folded.isascii():
        return (folded,)
    return _FORMS.findall(folded)


def _may_hold_initials(forms: Sequence[str]) -> bool:
    """Return whether any two neighbours are single characters: without, there is nothing to join."""
    lengths = list(map(len, forms))
    return lengths.count(1) > 1 and (1, 1) in pairwise(lengths)


def _join_initials(text: str, tokens: list[Token]) -> list[Token]:
    """Join runs of single letters that are written as initials: `J. R. R.`, `U.S.A`, `J R R`."""
    joined: list[Token] = []
    open_run = False  # whether the last token of `joined` is an initial, or a run of them
    for token in tokens:
        single = len(token.form) == 1 and token.form.isalpha() and not is_spaceless(token.form)
        if single and open_run:
            last = joined[-1]
            gap = text[last.end : token.start]
            dotted = text[token.end : token.end + 1] == "."
            bare = (
                gap == " "
                and text[last.start : last.end].isupper()
                and text[token.start : token.end].isupper()
                and token.form not in _WORDS_OF_ONE_LETTER
                and last.form not in _WORDS_OF_ONE_LETTER
            )
            if gap == "." or (gap == ". " and dotted) or bare:
                joined[-1] = Token(last.form + token.form, last.start, token.end)
                continue
        joined.append(token)
        open_run = single
    return joined
