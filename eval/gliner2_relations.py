"""Relation families and their phrasings, from which training questions are synthesised.

The labels are Wikidata's property names and common paraphrases; the phrasings were written for this file, not copied
from any question set. `held_out` families never occur in training: scores on them are zero-shot.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAMILIES", "Family"]


@dataclass(frozen=True, slots=True)
class Family:
    """One relation.

    Attributes:
        labels: names that a knowledge base might give it; the first is the usual one.
        subjects: types of entity that it may be asked of.
        questions: whole questions about `{x}`; the last is kept for the dev split.
        phrases: noun phrases that stand for the answer, so that another question can be asked of it.
        comparisons: whole questions about `{x}` and `{y}`.
        answer: type of the answer, where phrases are to be nested.
        held_out: kept out of training altogether.
    """

    labels: tuple[str, ...]
    subjects: tuple[str, ...]
    questions: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    comparisons: tuple[str, ...] = ()
    answer: str = ""
    held_out: bool = False


_WORKS = ("film", "song", "album", "book", "series")
_PERSON = ("person",)

FAMILIES: tuple[Family, ...] = (
    Family(
        ("director", "directed by", "film director"),
        ("film",),
        ("Who directed {x}?", "Who is the director of {x}?", "Name the director of film {x}.", "{x} was directed by whom?"),
        ("the director of {x}", "the director of film {x}", "{x}'s director", "the man who directed {x}"),
        ("Did the same person direct {x} and {y}?", "Are the directors of {x} and {y} the same?"),
        "person",
    ),
    Family(
        ("date of death", "died on", "death date"),
        _PERSON,
        ("When did {x} die?", "What is the date of death of {x}?", "What year did {x} pass away?", "On which day did {x} die?"),
        (),
        ("Who died first, {x} or {y}?", "Who died later, {x} or {y}?", "Did {x} outlive {y}?"),
    ),
    Family(
        ("date of birth", "born on", "birth date"),
        _PERSON,
        ("When was {x} born?", "What is the birth date of {x}?", "What is {x}'s birthday?", "In which year was {x} born?"),
        (),
        ("Who is older, {x} or {y}?", "Who was born earlier, {x} or {y}?", "Is {x} younger than {y}?"),
    ),
    Family(
        ("place of birth", "born in", "birthplace"),
        _PERSON,
        ("Where was {x} born?", "What is the place of birth of {x}?", "In what city was {x} born?", "What is the birthplace of {x}?"),
        ("the birthplace of {x}", "the city where {x} was born", "the place where {x} was born"),
        ("Were {x} and {y} born in the same place?",),
        "place",
    ),
    Family(
        ("place of death", "died in"),
        _PERSON,
        ("Where did {x} die?", "What is the place of death of {x}?", "In which town did {x} pass away?"),
        ("the city where {x} died",),
        (),
        "place",
    ),
    Family(
        ("country of citizenship", "nationality", "citizen of"),
        _PERSON,
        ("What nationality is {x}?", "Which country is {x} from?", "{x} is a citizen of which country?", "What is the nationality of {x}?"),
        ("the home country of {x}",),
        ("Do {x} and {y} share the same nationality?", "Are {x} and {y} of the same nationality?"),
        "place",
    ),
    Family(
        ("father", "has father"),
        _PERSON,
        ("Who is the father of {x}?", "Who was {x}'s father?", "Who fathered {x}?"),
        ("the father of {x}", "{x}'s father", "{x}'s dad"),
        (),
        "person",
    ),
    Family(
        ("mother", "has mother"),
        _PERSON,
        ("Who is the mother of {x}?", "Who was {x}'s mother?", "Who gave birth to {x}?"),
        ("the mother of {x}", "{x}'s mother"),
        (),
        "person",
    ),
    Family(
        ("spouse", "married to", "husband", "wife"),
        _PERSON,
        ("Who is the spouse of {x}?", "Who is {x} married to?", "Who did {x} marry?", "Who was {x}'s wife?"),
        ("the spouse of {x}", "{x}'s husband", "{x}'s wife", "the wife of {x}", "the husband of {x}"),
        (),
        "person",
    ),
    Family(
        ("child", "children", "has child"),
        _PERSON,
        ("Who is the child of {x}?", "Who are the children of {x}?", "Who is {x}'s son?"),
        ("the child of {x}", "{x}'s daughter", "the son of {x}"),
        (),
        "person",
    ),
    Family(
        ("sibling", "brother of", "sister of"),
        _PERSON,
        ("Who is the sibling of {x}?", "Who is {x}'s brother?", "Who is the sister of {x}?"),
        ("the sibling of {x}", "{x}'s sister"),
        (),
        "person",
    ),
    Family(
        ("performer", "performed by", "sung by"),
        ("song", "album"),
        ("Who performed {x}?", "Who sings {x}?", "Which artist recorded {x}?"),
        ("the performer of {x}", "the singer of {x}", "the artist who recorded {x}", "the performer of song {x}"),
        ("Are {x} and {y} by the same singer?",),
        "person",
    ),
    Family(
        ("composer", "music by", "composed by"),
        ("film", "song"),
        ("Who composed {x}?", "Who wrote the music for {x}?", "Who is the composer of {x}?"),
        ("the composer of {x}", "the composer of film {x}", "the composer of song {x}"),
        (),
        "person",
    ),
    Family(
        ("publication date", "release date", "released in", "released on"),
        _WORKS,
        ("When was {x} released?", "When did {x} come out?", "What year was {x} published?", "What is the release date of {x}?"),
        (),
        ("Which came out first, {x} or {y}?", "Which film was released earlier, {x} or {y}?", "Is {x} older than {y}?"),
    ),
    Family(
        ("country of origin", "made in", "produced in"),
        _WORKS,
        ("Which country is the film {x} from?", "Where was {x} made?", "What is the country of origin of {x}?"),
        ("the country that {x} comes from",),
        ("Do {x} and {y} originate from the same country?", "Are {x} and {y} from the same country?"),
        "place",
    ),
    Family(
        ("country", "located in country"),
        ("place", "organization"),
        ("What country is {x} in?", "In which country is {x}?", "{x} is located in what country?"),
        ("the country of {x}", "the country where {x} is located"),
        ("Are {x} and {y} located in the same country?", "Are both {x} and {y} in the same country?"),
        "place",
    ),
    Family(
        ("located in the administrative territorial entity", "located in", "is located in", "part of"),
        ("place", "organization"),
        ("What county is {x} in?", "Where is {x} located?", "In which district does {x} lie?", "What state is {x} part of?"),
        ("the county where {x} is located", "the state where {x} is found", "the region that contains {x}"),
        (),
        "place",
    ),
    Family(
        ("educated at", "studied at", "alma mater"),
        _PERSON,
        ("Where did {x} study?", "Which university did {x} attend?", "What school did {x} graduate from?"),
        ("the university that {x} attended", "the school where {x} studied"),
        (),
        "organization",
    ),
    Family(
        ("employer", "works for", "worked at"),
        _PERSON,
        ("Where did {x} work?", "Who employed {x}?", "Which company does {x} work for?"),
        ("the employer of {x}", "the company that {x} works for"),
        (),
        "organization",
    ),
    Family(
        ("award received", "won award", "won", "received"),
        ("person", "film", "book"),
        ("What award did {x} win?", "Which prize did {x} receive?", "What award was given to {x}?"),
        ("the award that {x} received",),
    ),
    Family(("cause of death", "died of"), _PERSON, ("How did {x} die?", "What did {x} die of?", "What was the cause of death of {x}?")),
    Family(
        ("place of burial", "buried at", "buried in"),
        _PERSON,
        ("Where is {x} buried?", "What is the burial place of {x}?", "In which cemetery does {x} lie?"),
        ("the place where {x} is buried",),
        (),
        "place",
    ),
    Family(
        ("inception", "founded in", "established in"),
        ("organization", "band", "place"),
        ("When was {x} founded?", "What year was {x} established?", "When did {x} begin?"),
        (),
        ("Which was founded first, {x} or {y}?",),
    ),
    Family(
        ("founded by", "founder", "established by"),
        ("organization", "band"),
        ("Who founded {x}?", "Who is the founder of {x}?", "Who started {x}?"),
        ("the founder of {x}", "the man who founded {x}"),
        (),
        "person",
    ),
    Family(
        ("publisher", "published by"),
        ("book", "song", "album"),
        ("Who published {x}?", "Which company published {x}?", "What is the publisher of {x}?"),
        ("the publisher of {x}",),
        (),
        "organization",
    ),
    Family(
        ("author", "written by", "writer"),
        ("book", "series"),
        ("Who wrote {x}?", "Who is the author of {x}?", "By whom was {x} written?"),
        ("the author of {x}", "the writer of {x}"),
        (),
        "person",
    ),
    Family(
        ("producer", "produced by"),
        ("film", "album", "series"),
        ("Who produced {x}?", "Who was the producer of {x}?", "{x} had which producer?"),
        ("the producer of {x}", "the person who produced {x}"),
        (),
        "person",
    ),
    Family(
        ("cast member", "stars", "starring", "actor"),
        ("film", "series"),
        ("Who starred in {x}?", "Who played the lead in {x}?", "Which actor appears in {x}?"),
        ("the star of {x}", "the actor who starred in {x}"),
        (),
        "person",
    ),
    Family(
        ("screenwriter", "screenplay by"),
        ("film",),
        ("Who wrote the screenplay of {x}?", "Who is the screenwriter of {x}?", "Who wrote the script for {x}?"),
        ("the screenwriter of {x}",),
        (),
        "person",
    ),
    Family(
        ("headquarters location", "based in", "headquartered in"),
        ("organization",),
        ("Where is {x} based?", "Where are the headquarters of {x}?", "In what city is {x} headquartered?"),
        ("the city where {x} is based",),
        (),
        "place",
    ),
    Family(
        ("owned by", "owner", "parent organization"),
        ("organization", "place"),
        ("Who owns {x}?", "Which company bought {x}?", "Who is the owner of {x}?"),
        ("the owner of {x}", "the company that owns {x}"),
        (),
        "organization",
    ),
    Family(("population", "has population of"), ("place",), ("What is the population of {x}?", "How many people live in {x}?", "How populous is {x}?")),
    Family(("capital", "has capital", "seat"), ("place",), ("What is the capital of {x}?", "What is the seat of {x}?", "Which city is the capital of {x}?"), ("the capital of {x}",), (), "place"),
    Family(("shares border with", "bordered by", "borders"), ("place",), ("What borders {x}?", "Which county shares a border with {x}?", "What is next to {x}?"), ("the county that borders {x}",), (), "place"),
    Family(("member of", "plays for", "played for", "member of sports team"), _PERSON, ("Which team did {x} play for?", "What club does {x} play for?", "{x} is a member of which group?"), ("the team that {x} plays for",), (), "organization"),
    Family(("position held", "served as"), _PERSON, ("What office did {x} hold?", "What position did {x} serve in?", "What was the role of {x}?")),
    Family(("occupation", "profession"), _PERSON, ("What is the occupation of {x}?", "What did {x} do for a living?", "What is {x}'s profession?"), (), ("Do {x} and {y} have the same profession?",)),
    Family(("genre", "music genre"), ("song", "album", "band", "film"), ("What genre is {x}?", "What kind of music does {x} play?", "What style is {x}?"), (), ("Are {x} and {y} of the same genre?",)),
    Family(("named after",), ("place", "organization"), ("Who is {x} named after?", "What was {x} named for?", "After whom is {x} called?"), ("the person that {x} is named after",), (), "person"),
    Family(("start time", "began in", "held in"), ("event",), ("When did {x} take place?", "When did {x} start?", "What year was {x} held?")),
    Family(("participant", "participated in", "fought in"), ("event",), ("Who took part in {x}?", "Who fought in {x}?", "Which side won {x}?")),
    Family(("record label", "signed to"), ("band", "album", "song"), ("What record label is {x} signed to?", "Which label released {x}?", "What is the record label of {x}?"), ("the record label of {x}",), (), "organization", held_out=True),
    Family(("architect", "designed by"), ("place",), ("Who designed {x}?", "Who was the architect of {x}?", "By which architect was {x} built?"), held_out=True),
    Family(("currency", "has currency"), ("place",), ("What currency is used in {x}?", "What money do people use in {x}?", "Which currency does {x} have?"), held_out=True),
    Family(("official language", "language spoken"), ("place",), ("What language is spoken in {x}?", "Which language do people in {x} speak?", "What is the official language of {x}?"), held_out=True),
    Family(("religion", "faith"), _PERSON, ("What religion does {x} follow?", "What was the faith of {x}?", "To which church did {x} belong?"), held_out=True),
)  # fmt: skip
