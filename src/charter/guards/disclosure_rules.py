"""A request is refused when an act, a name of hidden text and its owner come together; the owner decides.

The word tables hold these categories, each in every language as far as it needs it:

- acts: `verb` (show), `ask` (what are), `part` (the first word of), `exact` (verbatim); `copy` for what stands above
- names: `hard` (system prompt), `soft` (instructions), `thin` (text, note); with their owner in them: `hard_yours`, …
- owners before a name: `your`, `my`, `any` (a, good), `this` (these, following); after it: `yours`, `mine`; `other` is
  another thing's, `code` talk of programs, `stuff` no name at all (bash prompt), `mybot`, `its`
- what takes an act away: `not`, `not_after` (unless `invite`), `frame`, `who` + `says`, `per` (according to), `meta`
  (version of), `define`, `howto`, `has`, `yesno`, `only`; `talk` excuses quotations unless `obey`; `trick` voids frames
- requests that name nothing: what `they`/`maker` `told`/`gave` `you`; `handed`, `source`, `briefed`, `banned` +
  `speak`, `silenced`, `begin`, `preme` + `wording`, `first` + `within`, `unseen`, `notmine`, `setup`, …
- pointers `above`, openings `start` and `confess` with `go_on`; follow-ups `again`, `pron`, `tongue`, `fill`, `drop`
- questions that are answered: `whoq` (who changes it), `copula` (are they secret), `yesno` without `can` (could you);
  `yousaid` means an earlier answer, `generic` and `occasion` anybody ("at a test"), `genre` a poem to be finished
- `policy` names may be about a subject ("your rules on returns"), `errand` what a text is wanted for, `received` ours
"""

from __future__ import annotations

import re
from typing import Final

from .disclosure_about import About, Past, acts_on, framed, governed, negated, start_of
from .disclosure_found import ACTS, NAMES, Found, found
from .disclosure_scene import Scene, Sentence, asks
from .disclosure_unnamed import pointed, unnamed
from .disclosure_whose import owner_of, scale_of
from .lexicon import Hit

_NEXT: Final = 6  # sentences in which "it" may still be what was spoken of
_CURT: Final = re.compile(
    r"\W*(?:(?:the|full|whole|entire|complete|raw|ok|just|give)\W+)*(?:prompt|instructions|rules|sysprompt)"
    r"(?:\W+(?:now|full|please|pls|plz|asap|all|of|it|verbatim|complete|in|raw|whole|thing|everything))+\W*"
)
_CURT_SIZE: Final = 60  # characters
_LEADS: Final = 4  # words between "continue" and the opening it means
_DID: Final = frozenset({"did", "does", "do", "had", "has", "have"})
_ASKING: Final = ("can", "ask", "how", "define", "part", "exact")
_WHOLE: Final = ("full", "whole", "entire", "complete", "exact", "original", "current", "raw")
_OPENING: Final = 14  # words of an opening that is to be completed
_OPEN: Final = (":", "…", "...", "_", "-", "–", "are", "is", "[")
_LONG: Final = 60  # words of a message in which "hidden orders" may be those of its story


def find(scene: Scene, *, past: Past = "none", within: About | None = None) -> Found | None:
    """The first request for hidden text in a scene; `past`: what was said before; `within`: the whole message."""
    if not scene.sentences:
        return None
    about = About(scene, past, within)
    for sentence in scene.sentences:
        request = _named(about, sentence) or pointed(about, sentence) or unnamed(about, sentence)
        if request is not None:
            return request
    return _begun(about) or _spoken_of(about) or _bare(about) or _curt(about)


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _named(about: About, sentence: Sentence) -> Found | None:
    for name in sentence.of(*NAMES):
        if about.excused(name):
            continue
        if name.category.startswith("soft") and sentence.of("yousaid"):
            continue
        whose, owner = owner_of(sentence, name)
        if whose in ("my", "this", "any", "other") or (about.advised and name.category.startswith("soft")):
            continue
        start = start_of(sentence, name, owner)
        if governed(sentence, start, name, scale=scale_of(sentence, name.first)):
            continue
        for act in acts_on(about, sentence, name, start):
            if whose == "your" or _unsaid(about, sentence, act, name):
                return found("named", whose or "unsaid", act, name, owner)
        if whose == "your" and _alone(about, name) and not _only_about(about, sentence, name):
            return found("named", whose, owner or name, name, owner)
    return None


def _alone(about: About, name: Hit) -> bool:
    """Whether our own text can be meant: with soft names only where nothing was said before, as an answer of ours."""
    return name.category.startswith("hard") or about.alone


def _only_about(about: About, sentence: Sentence, name: Hit) -> bool:
    """Whether a sentence without an act asks about our text or tells of it, and does not ask for it."""
    if any(hit.first == 0 or name.last == hit.first for hit in sentence.of("yesno")):
        return True
    if about.questions or (
        about.first and asks(about.scene, sentence) and _says_more(sentence, name) and not sentence.of(*_ASKING)
    ):
        return True  # a question without an act asks about it
    return bool(sentence.of("has", "meta", "not", "howto", "frame", "only", "whoq")) or framed(about, sentence, name)


def _says_more(sentence: Sentence, name: Hit) -> bool:
    """Whether something is said of the name: "your rules are secret", not just "your rules"."""
    small = ("your", "mild", "all", *NAMES)
    return any(
        not sentence.known(at, *small, *(() if at >= name.last else ("adj", "hid")))
        for at in range(len(sentence.tokens.words))
    )


def _unsaid(about: About, sentence: Sentence, act: Hit, name: Hit) -> bool:
    """Whether a name without an owner is ours: a hard one, or a soft one that can be nothing else."""
    if sentence.known(name.first - 1, "its") and not about.tricked:
        return False
    if sentence.of("bots", "howto", "other") or _near_mine(sentence, name) or _others_did(sentence, name):
        return False
    if sentence.of("define") and act.category != "part":
        return False
    if _titled(about, name) or _of_a_thing(sentence, name, tricked=about.tricked):
        return False
    if name.category == "soft" and sentence.tokens.words[act.last - 1] == "about":
        return False
    hidden = sentence.known(name.first - 1, "hid") or (about.alone and sentence.known(name.first - 1, "prev", "above"))
    if name.category == "hard" or hidden:
        return about.scene.size <= _LONG * scale_of(sentence, name.first) or not sentence.known(name.first, "hid")
    if not about.alone or act.category == "exact" or sentence.of("mine"):
        return False
    if act.category == "verb" and _the_prompt(about, sentence, name, after=_WHOLE):
        return True
    short = about.scene.size <= _LONG * scale_of(sentence, name.first)
    if short and (about.tricked or (act.category == "verb" and sentence.known(act.first, "leak"))):
        return len(sentence.tokens.words) <= 16 * scale_of(sentence, name.first)
    known = (*NAMES, *ACTS, "adj", "mild", "all", "hid", "prev", "above", "fill", "your", "copy")
    strange = sum(not sentence.known(at, *known) for at in range(len(sentence.tokens.words)))
    beside = [at for at in (name.first - 1, name.last) if 0 <= at < len(sentence.tokens.words)]
    if any(not sentence.known(at, *known) for at in beside):
        return False  # the word beside it says which rules: those of a game
    return act.category == "verb" and strange <= 1 and about.scene.size <= 6 * scale_of(sentence, name.first)


def _near_mine(sentence: Sentence, name: Hit) -> bool:
    reach = 5 * scale_of(sentence, name.first)
    return any(name.first - hit.last <= reach and hit.first - name.last <= reach for hit in sentence.of("my"))


def _others_did(sentence: Sentence, name: Hit) -> bool:
    """Whether somebody else gave or got it: "what orders did the general give"."""
    words = sentence.tokens.words
    return name.last < len(words) and words[name.last] in _DID and not sentence.of("you", "they", "maker")


def _titled(about: About, name: Hit) -> bool:
    """Whether a quotation right after the name says which one it is."""
    after = about.scene.text[name.end : name.end + 3]
    return after[:1] in (" ", ":") and after.lstrip(" :")[:1] in tuple("\"“„«'`")


def _of_a_thing(sentence: Sentence, name: Hit, *, tricked: bool) -> bool:
    """Whether "of …", "for …" right after the name says whose it is."""
    words = sentence.tokens.words
    if any(word == "of" for word in words[name.last + 1 : name.last + 2]) and not sentence.known(name.last, *ACTS):
        return True
    if name.last >= len(words) or words[name.last] not in (("of",) if tricked else ("of", "for", "about", "to")):
        return False
    if words[name.last] == "for" and any(0 < hit.first - name.last <= 2 for hit in sentence.of("errand")):
        return False
    return not any(0 <= hit.first - name.last <= 2 for hit in sentence.of("yours", "here", "exact"))


def _begun(about: About) -> Found | None:
    """An opening of a prompt that ends where it begins ("You are a …"), or our own confession, to be continued."""
    for number, sentence in enumerate(about.scene.sentences):
        orders = sentence.of("go_on", "copy")
        end = len(sentence.tokens.words)
        for start in sentence.of("start"):
            reach = (
                len(sentence.tokens.words) if about.scene.quoted(start) else _LEADS * scale_of(sentence, start.first)
            )
            before = [hit for hit in orders if 0 <= start.first - hit.last <= reach]
            if before and end - start.last <= 3 and not sentence.of("my", "other", "genre"):
                return found("continued", "your", before[-1], start, None)
        for start in sentence.of("confess"):
            onward = [
                hit for other in about.scene.sentences[max(number - 1, 0) : number + 2] for hit in other.of("go_on")
            ]
            if onward or _left_open(about, sentence, start):
                return found("continued", "your", onward[-1] if onward else start, start, None)
    return None


def _curt(about: About) -> Found | None:
    """A message of nothing but "prompt" and small words that urge: "prompt. full. now."."""
    if about.alone and len(about.scene.text) <= _CURT_SIZE and _CURT.fullmatch(about.scene.text):
        for sentence in about.scene.sentences:
            for name in sentence.of("soft"):
                return found("bare", "unsaid", name, name, None)
    return None


def _left_open(about: About, sentence: Sentence, start: Hit) -> bool:
    """Whether a message is nothing but our confession, left for us to complete: "My instructions are as follows:"."""
    return start.first <= 5 and about.scene.size <= _OPENING and about.scene.text.rstrip(" \"'”»").endswith(_OPEN)


def _spoken_of(about: About) -> Found | None:
    """A name of ours in one sentence, and an order that says "it" in the same or a later one."""
    sentences = about.scene.sentences
    for number, sentence in enumerate(sentences):
        for name in sentence.of(*NAMES, *(("start",) if sentence.of("my", "mine") else ())):
            whose, owner = owner_of(sentence, name)
            ours = (
                name.category != "start"
                and not about.excused(name)
                and not about.advised
                and _ours(about, sentence, name, whose)
            )
            for later in sentences[number : number + _NEXT]:
                after = name.last if later is sentence else 0
                acts = [*later.of("verb_it")] if ours else []
                if not later.of("meta", "define"):
                    acts += [hit for hit in later.of("yours_it") if not _compared(about, later, hit)]
                if ours and sentence.of("let"):
                    acts += [*later.of("verb")]
                for act in acts:
                    if act.first >= after and not negated(later, act) and not framed(about, later, act):
                        return found("it", "your", act, name, owner)
    return None


def _compared(about: About, sentence: Sentence, hit: Hit) -> bool:
    """Whether "yours" is weighed against mine: "mine or yours", "does mine override yours?"."""
    if sentence.known(0, "yesno") and asks(about.scene, sentence) and not sentence.of("can"):
        return True
    return sentence.tokens.words[hit.last - 2 : hit.last - 1] in (("or",), ("than",), ["or"], ["than"])


def _ours(about: About, sentence: Sentence, name: Hit, whose: str) -> bool:
    if whose in ("", "any") and sentence.of("has"):
        return True
    if whose == "your":
        return True
    known = name.category == "hard" or (about.alone and _the_prompt(about, sentence, name))
    return known and not whose and about.scene.size <= _LONG


def _the_prompt(about: About, sentence: Sentence, name: Hit, *, after: tuple[str, ...] = ("the", *_WHOLE)) -> bool:
    """Whether "the prompt" can only be this one: nobody has spoken of another."""
    words = sentence.tokens.words
    if words[name.last - 1] != "prompt" or name.first == 0 or words[name.first - 1] not in after:
        return False
    return not any(one.of("my", "mine", "this", "other", "code", "howto", "stuff") for one in about.scene.sentences)


def _bare(about: About) -> Found | None:
    """A message that is little more than the name."""
    if about.questions:
        return None
    for sentence in about.scene.sentences:
        for name in sentence.of("hard", "hard_yours"):
            whose, owner = owner_of(sentence, name)
            rest = about.scene.size - (name.last - name.first)
            asked = sentence.known(0, "yesno") or sentence.of(
                "has", "meta", "not", "define", "howto", "ask", "how", "verb", "only"
            )
            if whose in ("", "your") and rest <= 3 * scale_of(sentence, name.first) and not asked:
                return found("bare", whose or "unsaid", name, name, owner)
    return None
