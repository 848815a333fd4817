"""The rules, one row each: an id, what it says, the next step, and the function that looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from . import file_rules, stack_rules, word_rules
from .report import Hit
from .subject import NEXT, Subject


def _at_load(subject: Subject) -> Iterable[Hit]:
    """Seen while loading; a charter that loaded has none of it."""
    return ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One row."""

    id: str
    about: str
    help: str
    check: Callable[[Subject], Iterable[Hit]] = _at_load


RULES: Final = (
    Rule("load", "The charter loads.", NEXT),
    Rule("missing-base", "A stack has a base: a required system layer that only its shippers may change.",
         "Make the first required layer a system layer owned by sealed or operator."),
    Rule("layer-order", "Layers, modes and budget steps form a valid stack.",
         "Correct the layer in charter.toml; a user layer stands last, and no mode drops a required layer."),
    Rule("assemble", "The default view can be assembled.", NEXT, stack_rules.assembles),
    Rule("over-budget", "The default view stays inside the limits, and what can be written can be shown.",
         "Shorten a layer, lower max_content, or raise the limit in [budget].", stack_rules.over_budget),
    Rule("volatile-above-stable", "What changes stands below what does not, so that a cached prefix stays whole.",
         "Move the changing layer below the stable ones, or accept the cost if the design asks for this order.",
         stack_rules.volatile_above_stable),
    Rule("machine-contract-in-writable", "No machine contract stands in a layer that an agent or a user can rewrite.",
         "Move it to a sealed layer or let the engine write it.", word_rules.machine_contract_in_writable),
    Rule("duplicate-text", "A sentence stands once in a prompt.",
         "Keep it in the layer with the most authority and remove the copy.", word_rules.duplicate_text),
    Rule("contradiction", "No layer asks for what another forbids.",
         "Decide which one holds and change the other.", word_rules.contradiction),
    Rule("dead-include", "Every file is used, and every import leads somewhere.",
         "Name it in charter.toml, repair the import, or delete it.", file_rules.dead_include),
    Rule("unreadable-file", "Every file that is found can be read.",
         "Repair the file; a prompt that needs it is refused.", file_rules.unreadable_file),
    Rule("oversize-skill", "Skills and the list of skills are small.",
         "Move detail into files that the skill names, or shorten the descriptions.", file_rules.oversize_skill),
    Rule("skill-format", "Skills keep to the Agent Skills format.",
         "Correct the frontmatter of SKILL.md.", file_rules.skill_format),
    Rule("injection-in-file", "No file commands the model in place of its owner.",
         "Read the line; if it only describes an attack, put it in quotes or a code fence.",
         file_rules.injection_in_file),
    Rule("hidden-characters", "Nothing in a file is invisible.",
         "Delete the characters; an editor that shows them helps.", file_rules.hidden_characters),
    Rule("our-heading-in-file", "No file writes a heading or separator of the charter's.",
         "Reword the heading or use another level of structure.", file_rules.our_heading_in_file),
    Rule("unclosed-fence", "Code fences are closed.",
         "Close the fence with the same mark on a line of its own.", file_rules.unclosed_fence),
    Rule("sealed-without-lock", "Sealed layers are locked.",
         "Run 'charter lock' when the files are as they should be.", stack_rules.sealed_without_lock),
    Rule("unknown-channel-file", "A channel's file is named like a channel.",
         "Rename the file or delete it.", file_rules.unknown_channel_file),
    Rule("required-empty", "A required layer has something to say.",
         "Write its text, or make the layer optional.", stack_rules.required_empty),
    Rule("summary-too-long", "A layer's summary is one short line.",
         "Say it in one short sentence.", stack_rules.summary_too_long),
    Rule("title-not-heading", "A layer's title is a Markdown heading.",
         "Write it as one line such as '## Title'.", stack_rules.title_not_heading),
)  # fmt: skip
BY_ID: Final = {rule.id: rule for rule in RULES}
