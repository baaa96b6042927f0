"""A plugin of pytest: a stand-in for spaCy's model `en_core_web_sm`, which is in no package registry.

Word classes come from endings and stop words, noun chunks from runs of word classes. They are worse than the model's,
but both runs have the same. So a client's tests of the text itself may fail, in both runs.
"""

import re

import spacy
from spacy.language import Language
from spacy.tokens import Doc

STOP_CLASSES = {
    "DET": "a an the this that these those every each some any no all both",
    "ADP": "in on at by for with from of to into over under between through during after before about against near",
    "PRON": "i you he she it we they him her them us me his its their our who which what whose itself himself",
    "CCONJ": "and or but nor",
    "AUX": "is are was were be been being am has have had do does did will would can could shall should may might must",
    "ADV": "not very so then there here also too later when where how why still again only more most just as than",
}
CLASS_OF = {word: name for name, words in STOP_CLASSES.items() for word in words.split()}
ENDINGS = (
    ("ADV", re.compile(r"ly$")),
    ("VERB", re.compile(r"(ed|ing|ize|ify)$")),
    ("ADJ", re.compile(r"(al|ous|ive|ic|able|ful|less|ar|ary|ent|ant)$")),
)
NOUNS = {"NOUN", "PROPN"}


def pytest_configure():
    spacy.load = lambda _name, **_options: pipeline()


def pipeline():
    """English words and sentences, classes and noun chunks."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("english_by_endings")
    return nlp


@Language.component("english_by_endings")
def english_by_endings(doc):
    """The same words, with classes and noun chunks. Every chunk depends on the first one of its sentence."""
    classes, heads, dependencies = [], [], []
    for sentence in doc.sents:
        found = [word_class(token, is_first=token.i == sentence.start) for token in sentence]
        chunks = chunk_heads(found)
        classes += found
        heads += [sentence.start + (chunks[0] if head == i else head) for i, head in enumerate(chunks)]
        dependencies += [
            "ROOT" if i == chunks[0] else "compound" if i != head else "pobj" if found[i] in NOUNS else "dep"
            for i, head in enumerate(chunks)
        ]
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        pos=classes,
        lemmas=[re.sub(r"(?<=[a-z]{3})s$", "", token.lower_) for token in doc],
        heads=heads,
        deps=dependencies,
    )


def word_class(token, is_first):
    if not token.is_alpha:
        return "NUM" if token.like_num else "SPACE" if token.is_space else "PUNCT"
    if token.lower_ in CLASS_OF:
        return CLASS_OF[token.lower_]
    if token.is_title and not is_first:
        return "PROPN"
    return next((name for name, ending in ENDINGS if ending.search(token.lower_)), "NOUN")


def chunk_heads(classes):
    """For each word of a sentence the place of the last noun of its chunk; its own, if it is in none."""
    heads = list(range(len(classes)))
    start = 0
    while start < len(classes):
        end = start
        while end < len(classes) and classes[end] in {"DET", "ADJ", *NOUNS}:
            end += 1
        last = max((i for i in range(start, end) if classes[i] in NOUNS), default=start)
        heads[start : last + 1] = [last] * (last + 1 - start)
        start = max(end, start + 1)
    return heads
