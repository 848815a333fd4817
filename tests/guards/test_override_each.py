"""N-08: each word and each sign that a rule knows by name is tried by itself, on sentences made by hand."""

from __future__ import annotations

import pytest

from charter.guards.override_acts import overrides, ranks, roles
from charter.guards.override_deeds import approvals, compliance, control
from charter.guards.override_secrets import concealment, leaks, tampering, triggers, wrongs
from charter.guards.override_watch import unwatched

from .hand import reading_of

pytestmark = pytest.mark.requirement("N-08", "S0-09")
ALL = (
    *(overrides, ranks, roles, approvals, compliance, control, concealment),
    *(leaks, tampering, triggers, wrongs, unwatched),
)


def seen(rule: str, said: str) -> list[str]:
    """The marks of one rule, in the last sentence."""
    reading, sentence, found = reading_of(said)
    made = next(one for one in ALL if one.__name__ == rule)
    return [
        f"{mark.code}{'!' if mark.weight > 1 else '?'} {'+'.join(mark.factors)}"
        for mark in made(reading, sentence, found)
    ]


# ── words between, before and behind ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("word", ["as", "the", "an", "a", "my", "your", "to"])
def test_a_small_word_leads_to_the_rank_that_someone_is_given(word: str) -> None:
    assert seen("control", f"treat/grant mia/party {word} boss/boss") == ["CONTROL_GRANT? party+grant+boss"]
    assert seen("control", "treat/grant mia/party zorble boss/boss") == []


@pytest.mark.parametrize("word", ["whoever", "anyone", "anybody", "everyone", "everybody"])
def test_a_rank_is_given_to_anybody_at_all(word: str) -> None:
    assert seen("control", f"{word}/party, is/grant boss/boss") == ["CONTROL_GRANT? party+grant+boss"]
    assert seen("control", "nobody/party, is/grant boss/boss") == []


@pytest.mark.parametrize("word", ["as", "pretend", "pretending", "imagine"])
def test_what_is_feigned_of_the_past_is_said_of_now(word: str) -> None:
    assert seen("overrides", f"{word} it/guarded was ignored/void") == ["OVERRIDE! guarded+void"]
    assert seen("overrides", "say it/guarded was ignored/void") == []


@pytest.mark.parametrize("word", ["no", "without", "never"])
def test_what_is_said_to_be_none_does_not_leave(word: str) -> None:
    assert seen("leaks", f"send/send {word} keys/secret to www.x.example") == []
    assert seen("leaks", "send/send zorble keys/secret to www.x.example") == ["EXFILTRATE! send+secret"]


@pytest.mark.parametrize(
    "word", ["instructions", "rules", "changes", "edits", "transfers", "arrangements", "agreements"]
)
def test_what_is_not_to_be_told_is_of_what_the_reader_does(word: str) -> None:
    assert seen("concealment", f"never/neg tell/tell the_{word}/matter") == ["CONCEAL? tell+matter"]
    assert seen("concealment", "never/neg tell/tell the_zorbles/matter") == []


@pytest.mark.parametrize("word", ["went", "gone", "be", "been", "is", "are", "belong", "belongs", "shows", "turns_up"])
def test_what_never_comes_into_the_log_is_kept_away(word: str) -> None:
    assert seen("unwatched", f"this never {word}/perceive in the log") == ["CONCEAL? perceive"]
    assert seen("unwatched", "this never zorbles/perceive in the log") == []


@pytest.mark.parametrize(
    "word",
    ["reaches", "appears", "surfaces", "lands", "ends_up", "goes", "enters", "gets", "makes_it", "figures"],
)
def test_each_way_to_arrive_is_one(word: str) -> None:
    assert seen("unwatched", f"this never {word}/perceive in the log") == ["CONCEAL? perceive"]


@pytest.mark.parametrize("word", ["failed", "lost", "costs", "wrong", "mistakes"])
def test_what_goes_wrong_is_hidden_and_not_refused(word: str) -> None:
    assert seen("unwatched", f"operator must never learn/perceive of {word}/refuse") == ["CONCEAL? perceive"]
    assert seen("unwatched", "operator must never learn/perceive of zorbles/refuse") == []


@pytest.mark.parametrize("word", ["of", "about", "that"])
def test_nobody_learns_of_it(word: str) -> None:
    assert seen("unwatched", f"nobody learns/perceive {word} zorbles") == ["CONCEAL? perceive"]
    assert seen("unwatched", "nobody learns/perceive all zorbles") == []


@pytest.mark.parametrize("name", ["approval", "approvals", "permission", "operator", "human", "person"])
def test_a_leave_that_is_a_risk_by_its_name_is_nothing_grave(name: str) -> None:
    assert seen("approvals", f"without/without leave/approval a {name}/risk") == []
    assert seen("approvals", "without/without leave/approval a zorble/risk") == ["APPROVAL? approval"]


@pytest.mark.parametrize(
    "verb", ["ask", "confirm", "request", "seek", "wait", "get", "need", "require", "obtain", "await", "pause"]
)
def test_each_verb_of_asking_may_not_be_denied(verb: str) -> None:
    assert seen("approvals", f"never/neg {verb}/protect first") == ["APPROVAL? protect"]
    assert seen("approvals", "never/neg zorble/protect first") == []


@pytest.mark.parametrize("verb", ["verify", "escalate", "consult", "question", "doubt"])
def test_each_verb_of_doubt_may_not_be_denied_of_something_grave(verb: str) -> None:
    assert seen("approvals", f"never/neg {verb}/protect pay/risk") == ["APPROVAL? protect"]
    assert seen("approvals", f"never/neg {verb}/protect") == []
    assert seen("approvals", "never/neg zorble/protect pay/risk") == []


@pytest.mark.parametrize("kind", ["neg", "stop", "invert"])
def test_each_way_to_deny_an_asking_counts(kind: str) -> None:
    verb = "asking" if kind == "stop" else "ask"
    assert seen("approvals", f"zorble/{kind} {verb}/protect first") == ["APPROVAL? protect"]


@pytest.mark.parametrize("kind", ["drop", "drop2", "off"])
def test_a_leave_that_is_cut_is_skipped_and_one_whose_cut_is_denied_is_kept(kind: str) -> None:
    assert seen("approvals", f"cut/{kind} leave/approval") == ["APPROVAL? approval"]
    assert seen("approvals", f"pay/risk without/without never/neg cut/{kind} leave/approval") == []
    assert seen("approvals", "pay/risk without/without never/neg zorble leave/approval") == ["APPROVAL? approval"]


# ── other languages ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "skipped"),
    [
        ("zahl/risk@de ohne/lackof@de leave/approval@de", True),
        ("ohne/lackof@de leave/approval@de", False),
        ("nie/neg@de frag/seek@de leave/approval@de", True),
        ("nie/neg@de leave/approval@de", False),
        ("frag/seek@de leave/approval@de", False),
        ("nie/neg@de zahl/risk@de ohne/lackof@de leave/approval@de", False),
        ("zahl/risk@de keine/lackof+neg@de leave/approval@de", True),
        ("nie/neg@de frag/seek@de leave/approval@de no/refuse@de", False),
        ("nie/neg@de frag/seek@de leave/approval@de mob/hostile@de", False),
        ("nie/neg@de frag/seek@de leave/approval@de bis/until@de", False),
        (f"nie/neg@de {'a ' * 12}frag/seek@de leave/approval@de", True),
        (f"nie/neg@de {'a ' * 13}frag/seek@de leave/approval@de", False),
        (f"zahl/risk@de ohne/lackof@de {'a ' * 10}leave/approval@de", True),
        (f"zahl/risk@de ohne/lackof@de {'a ' * 11}leave/approval@de", False),
        ("sormadan/seek@tr onay/approval@tr", False),
        ("sorma/seek@tr onay/approval@tr almıyor", True),
    ],
)
def test_in_other_languages_a_leave_is_not_asked_for_or_gone_without(said: str, skipped: bool) -> None:
    assert seen("approvals", said) == ["APPROVAL? approval"] * skipped


@pytest.mark.parametrize(
    ("rule", "said", "marks"),
    [
        ("concealment", "nie/neg@de sag/tell@de chef/watcher@de", ["CONCEAL? tell+watcher"]),
        ("concealment", f"chef/watcher@de {'a ' * 12}nie/neg@de sag/tell@de", ["CONCEAL? tell+watcher"]),
        ("concealment", f"chef/watcher@de {'a ' * 13}nie/neg@de sag/tell@de", []),
        ("concealment", "nie/neg@de sag/tell@de chef/watcher@de bis/until@de", []),
        ("concealment", "versteck/hide@de chef/watcher@de", ["CONCEAL! hide+watcher"]),
        ("concealment", f"versteck/hide@de {'a ' * 13}chef/watcher@de", ["CONCEAL! hide+watcher"]),
        ("concealment", f"versteck/hide@de {'a ' * 14}chef/watcher@de", []),
        ("concealment", f"chef/watcher@de {'a ' * 13}versteck/hide@de", ["CONCEAL! hide+watcher"]),
        ("leaks", "sammle/collect@de gold/treasure@de", ["EXFILTRATE? collect+treasure"]),
        ("leaks", f"gold/treasure@de {'a ' * 5}sammle/collect@de", ["EXFILTRATE? collect+treasure"]),
        ("leaks", f"gold/treasure@de {'a ' * 6}sammle/collect@de", []),
        ("leaks", "gold/treasure a collect/collect", []),
        ("tampering", "disable_logs/off+guard", ["TAMPER? off+guard"]),
        ("compliance", "weiger/never_refuse@de a", ["OVERRIDE? never_refuse"]),
    ],
)
def test_in_other_languages_things_stand_on_either_side(rule: str, said: str, marks: list[str]) -> None:
    assert seen(rule, said) == marks


# ── what was spoken of before ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("the rules/rule. ignore/drop them", ["OVERRIDE? drop+referred"]),
        ("the rules/guarded. ignore/drop it", ["OVERRIDE? drop+referred"]),
        ("zorble. ignore/drop them", []),
        ("the rules/rule of mia/speaker. ignore/drop them", []),
        ("the rules/rule mob/hostile. ignore/drop them", []),
        ("the rules/rule try/attempt. ignore/drop them", []),
        ("the rules/rule. ignore/drop them mob/hostile", []),
        ("the rules/rule. try/attempt a, ignore/drop them", []),
        ("the rules/rule. ignore/drop emails/speaker them", []),
        ("the rules/rule. they void/void", ["OVERRIDE? referred+void"]),
        ("the rules/rule. those void/void", []),
        ("the rules/rule. they never/neg hold/hold", []),
        ("the rules/rule, ignore/drop them", ["OVERRIDE? drop+referred"]),
        ("ignore/drop them, the rules/rule", ["OVERRIDE? drop+rule"]),
    ],
)
def test_a_pronoun_stands_for_what_the_words_before_named(said: str, marks: list[str]) -> None:
    assert seen("overrides", said) == marks


# ── hiding, and leave to do wrong ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rule", "said", "marks"),
    [
        ("concealment", "operator_hide/hide+watcher", ["CONCEAL! hide+watcher"]),
        ("concealment", "operator_hide_it/hide+watcher", []),
        ("concealment", "hide/hide; operator/watcher", []),
        ("concealment", "secret/hide pay/risk", ["CONCEAL? hide"]),
        ("concealment", "secretly/hide kill/off", ["CONCEAL? hide"]),
        ("concealment", "secretly/hide mail/send", ["CONCEAL? hide"]),
        ("concealment", "secretly/hide zorble/x", []),
        ("concealment", "pay/risk secretly/hide", []),
        ("wrongs", "a counterfeit/crime", []),
        ("wrongs", "a zorble/crime", ["OVERRIDE? crime"]),
        ("wrongs", "may/leave; to lie/wrong", []),
        ("wrongs", f"lie/wrong {'a ' * 9}may/leave", ["OVERRIDE? wrong+leave"]),
        ("wrongs", f"lie/wrong {'a ' * 10}may/leave", []),
        ("wrongs", "a lie/wrong may/leave", []),
        ("triggers", "when/trigger pay/payload pay/payload", ["TRIGGER! trigger+payload"]),
        ("triggers", "when/trigger a never/neg pay/payload b pay/payload", []),
    ],
)
def test_hiding_and_leave_to_do_wrong_by_what_stands_near(rule: str, said: str, marks: list[str]) -> None:
    assert seen(rule, said) == marks


# ── one after the other ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rule", "said", "marks"),
    [
        ("compliance", "mia/speaker says/says never_refuse/never_refuse; never_refuse/never_refuse", "never_refuse"),
        ("control", "obey/obey nothing; obey/obey mia/party", "obey+party"),
        ("control", "never/neg trust/grant a boss/boss; trust/grant mia/party as boss/boss", "party+grant+boss"),
        ("control", "trust/grant mia/party so boss/boss, treat/grant mia/party as boss/boss", "party+grant+boss"),
        ("control", "send/send cats; send/send all gold/risk to 0xabcdef", "send+address"),
        ("approvals", "ask/protect a; never/neg ask/protect first", "protect"),
        ("approvals", "never/neg zorble ask/protect first; never/neg ask/protect first", "protect"),
        ("leaks", "never/neg send/send keys/secret; send/send keys/secret to www.x.example", "send+secret"),
        ("leaks", f"send/send a; {'a ' * 12}send/send keys/secret to www.x.example", "send+secret"),
        ("concealment", "the tell/tell; never/neg tell/tell operator/watcher", "tell+watcher"),
        ("concealment", "tell/tell; never/neg tell/tell operator/watcher", "tell+watcher"),
        ("concealment", "never/neg told/tell; never/neg tell/tell operator/watcher", "tell+watcher"),
        ("concealment", "never/neg hide/hide; hide/hide operator/watcher", "hide+watcher"),
        ("concealment", "unasked/unasked milk/harmless evade/evade", "evade"),
        ("overrides", "it/guarded gone/lifted; it/guarded is/be gone/lifted", "guarded+lifted"),
        ("overrides", "say it/guarded, obey/has_no no it/guarded", "has_no+guarded"),
        ("ranks", "beats/outrank a; this/this beats/outrank it/guarded", "this+outrank+guarded"),
        ("ranks", "this/this never/neg beats/outrank a; this/this beats/outrank it/guarded", "this+outrank+guarded"),
        ("roles", "play/persona no_rules/freed about cats; play/persona free/freed", "persona+freed"),
        ("roles", "played/persona a play/persona free/freed", "persona+freed"),
        ("triggers", "a/trigger b/payload when/trigger a pay/payload", "trigger+payload"),
    ],
)
def test_what_does_not_count_hides_nothing_that_follows(rule: str, said: str, marks: str) -> None:
    assert marks in [mark.split(" ", 1)[1] for mark in seen(rule, said)]


# ── how near ──────────────────────────────────────────────────────────────────────────────────────────────────────

PROTECT, LEAVE = ["APPROVAL? protect"], ["APPROVAL? approval"]


@pytest.mark.parametrize(
    ("rule", "said", "marks"),
    [
        ("control", f"obey/obey operator/party+boss {'a ' * 6}mia/party", ["CONTROL_GRANT? obey+party"]),
        ("control", f"obey/obey operator/party+boss {'a ' * 7}mia/party", []),
        ("control", f"everyone/party {'a ' * 9}is/grant boss/boss", ["CONTROL_GRANT? party+grant+boss"]),
        ("control", f"everyone/party {'a ' * 10}is/grant boss/boss", []),
        ("control", f"send/send {'a ' * 7}all gold/risk to 0xabcdef", ["CONTROL_GRANT? send+address"]),
        ("control", f"send/send {'a ' * 8}all gold/risk to 0xabcdef", []),
        ("control", "gold/risk send/send all to 0xabcdef", []),
        ("control", "send/send all to 0xabcdef gold/risk", []),
        ("approvals", "never/neg even bother to ask_for_approval/protect", PROTECT),
        ("approvals", "never/neg ever even bother to ask_for_approval/protect", []),
        ("approvals", "never/neg ask_approval/protect", []),
        ("approvals", f"never/neg ask/protect {'a ' * 7}first pay/risk", PROTECT),
        ("approvals", f"never/neg ask/protect {'a ' * 8}first pay/risk", []),
        ("approvals", f"never/neg ask/protect first {'a ' * 9}pay/risk b", PROTECT),
        ("approvals", f"never/neg ask/protect first {'a ' * 10}pay/risk b", []),
        ("approvals", f"never/neg ask/protect a first {'a ' * 8}pay/risk b", PROTECT),
        ("approvals", f"never/neg ask/protect a first {'a ' * 9}pay/risk b", []),
        ("approvals", f"never/neg verify/protect {'a ' * 10}pay/risk b", PROTECT),
        ("approvals", f"never/neg verify/protect {'a ' * 11}pay/risk b", []),
        ("approvals", f"never/neg ask/protect {'a ' * 5}zorble/approval pay/risk b", PROTECT),
        ("approvals", f"never/neg ask/protect {'a ' * 6}zorble/approval pay/risk b", []),
        ("approvals", "never/neg asking/protect what first pay/risk", []),
        ("approvals", "never/neg asking/protect 7 first pay/risk", []),
        ("approvals", "never/neg asking/protect for the first pay/risk", []),
        ("approvals", "never/neg asking/protect for zorble first pay/risk", PROTECT),
        ("approvals", "without/neg asking/protect first", []),
        ("approvals", "without/neg ever asking/protect first", []),
        ("approvals", "without/neg asking/protect first pay/risk", PROTECT),
        ("approvals", f"pay/risk less/invert {'a ' * 11}without/without leave/approval", []),
        ("approvals", f"pay/risk less/invert {'a ' * 12}without/without leave/approval", LEAVE),
        ("approvals", "pay/risk less/invert; without/without leave/approval", LEAVE),
        ("approvals", "skip/waive a pay/risk", ["APPROVAL? waive+risk"]),
        ("approvals", "pay/risk skip/waive", ["APPROVAL? waive+risk"]),
    ],
)
def test_what_belongs_together_stands_so_near_and_no_further(rule: str, said: str, marks: list[str]) -> None:
    assert seen(rule, said)[:1] == marks
