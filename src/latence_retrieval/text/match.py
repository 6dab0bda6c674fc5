"""Find the names of a catalogue in running text: the matcher of tier 1, and of linking at build time.

Every n-gram of tokens is a candidate, up to the longest form that starts with its first token; of those that
overlap the longest wins, then the leftmost. How a form is written (its case) is evidence, judged by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from latence_retrieval.text.normalise import narrow
from latence_retrieval.text.tokenise import Token

__all__ = ["FUNCTION_WORDS", "Case", "Match", "find_matches", "is_written_as_name", "letter_cases", "longest_first"]

Found = TypeVar("Found")

FUNCTION_WORDS = frozenset(
    # English articles, prepositions, conjunctions, pronouns and auxiliaries (after the SMART list's core), and the
    # particles that stand in lower case inside names of other European languages.
    """a an the of in on at to for from by with and or but nor as is was were are be been being am do does did has
    have had this that these those it its he his him she her hers they their them who whom whose which what when
    where why how i you we our us not no than then so such into over under about after before during between both
    same more most other also if there any all can could will would may might must shall should
    de la le les von van der den del du des di da dos das al el bin ibn y et und e zu zur zum""".split()
)


class Case:
    """How the first letter of a token is written, as one byte."""

    LOWER = 0
    UPPER = 1
    DIGIT = 2
    NONE = 3  # a script without case


class Match(NamedTuple, Generic[Found]):
    """Tokens `start` to `stop` (excluded) are the normalised `form`, and what the look-up says of it."""

    start: int
    stop: int
    form: str
    found: Found


def letter_cases(text: str, tokens: Sequence[Token]) -> bytes:
    """Return one `Case` byte per token; letters that hang on a digit (`4th`, `100b`) go with the digit."""
    text = narrow(text)
    cases = bytearray()
    end = -1
    for token in tokens:
        letter = text[token.start]
        hangs = token.start == end and cases[-1] == Case.DIGIT
        if hangs or letter.isnumeric() or letter == "&":
            cases.append(Case.DIGIT)
        elif letter.isupper():
            cases.append(Case.UPPER)
        else:
            cases.append(Case.LOWER if letter.islower() else Case.NONE)
        end = token.end
    return bytes(cases)


def is_written_as_name(forms: Sequence[str], cases: bytes, start: int, stop: int) -> bool:
    """Return whether tokens `start` to `stop` are written as a name: no content word in lower case.

    A form of function words alone ("Of the") must have them all capitalised. Digits and scripts without case
    are content that is never in lower case.
    """
    content = 0
    for at in range(start, stop):
        if forms[at] in FUNCTION_WORDS:
            continue
        if cases[at] == Case.LOWER:
            return False
        content += 1
    return content > 0 or Case.LOWER not in cases[start:stop]


def find_matches(
    forms: Sequence[str],
    *,
    longest: int,
    heads: Callable[[Sequence[str]], Sequence[int]],
    look_up: Callable[[Sequence[str]], Sequence[Found | None]],
    max_lookups: int,
) -> tuple[list[Match[Found]], bool]:
    """Return all matches, overlapping ones too, in order of start and length, and whether the limit cut any off.

    Args:
        forms: normal forms of the tokens.
        longest: no form is longer than this many tokens.
        heads: for each first token, and for each two first tokens, the length of the longest form that starts so
            (0 for none). Asked twice, in batches.
        look_up: for each n-gram (forms joined by single spaces), what it stands for, or None. Asked once.
        max_lookups: n-grams to look up at the most; those that start later in the text are left out first.
    """
    count = len(forms)
    first = heads(forms[:max_lookups])
    opening = [at for at, reach in enumerate(first) if reach > 1 and at + 1 < count]
    second = dict(zip(opening, heads([f"{forms[at]} {forms[at + 1]}" for at in opening]), strict=True))
    grams: list[tuple[int, int, str]] = []
    is_cut = count > max_lookups
    for start, reach in enumerate(first):
        if not reach:
            continue
        longer = min(second.get(start, 0), longest, count - start)
        for length in (1, *range(2, longer + 1)):
            if len(grams) >= max_lookups:
                is_cut = True
                break
            grams.append((start, start + length, " ".join(forms[start : start + length])))
    found = look_up([gram[2] for gram in grams]) if grams else []
    matches = [Match(*gram, value) for gram, value in zip(grams, found, strict=True) if value is not None]
    return matches, is_cut


def longest_first(
    matches: Sequence[Match[Found]], *, is_guess: Callable[[Match[Found]], bool] | None = None
) -> list[Match[Found]]:
    """Return those matches that stand when longer ones shut out the shorter that overlap them, in text order.

    A guess, where there is a way to tell, shuts out other guesses alone.
    """
    if is_guess is not None:
        sure = [match for match in matches if not is_guess(match)]
        if len(sure) < len(matches):
            standing = [*longest_first(sure), *filter(is_guess, longest_first(matches))]
            return sorted(standing, key=lambda match: (match.start, match.stop))
    taken: set[int] = set()
    kept: list[Match[Found]] = []
    for match in sorted(matches, key=lambda match: (match.start - match.stop, match.start)):
        places = range(match.start, match.stop)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(match)
    kept.sort(key=lambda match: match.start)
    return kept
