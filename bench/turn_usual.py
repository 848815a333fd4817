"""The usual way to build such a turn: an ORM, TF-IDF fitted anew, a LangChain template, tiktoken, a row per message."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, event, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from contenders import peer
from turn_peers import REPLY

EXACT = "o200k_base"


class Base(DeclarativeBase):
    """The tables of an application that keeps what a turn needs."""


class Note(Base):
    __tablename__ = "notes"
    id: Mapped[int] = mapped_column(primary_key=True)
    user: Mapped[str] = mapped_column(index=True)
    text: Mapped[str]
    day: Mapped[str]


class Message(Base):
    __tablename__ = "messages"
    id: Mapped[int] = mapped_column(primary_key=True)
    chat: Mapped[int] = mapped_column(index=True)
    role: Mapped[str]
    text: Mapped[str]


class TurnRow(Base):
    __tablename__ = "turns"
    id: Mapped[int] = mapped_column(primary_key=True)
    user: Mapped[str] = mapped_column(index=True)
    prompt_sha256: Mapped[str]
    tokens: Mapped[int]
    outcome: Mapped[str]


def tiktoken_encoding() -> Any:
    """tiktoken's own encoder; its vocabulary comes out of splintr's wheel, because tiktoken would download it."""
    import splintr

    tiktoken = peer("tiktoken")
    known = splintr.Tokenizer.from_pretrained(EXACT)
    specials = known.special_tokens() if callable(known.special_tokens) else known.special_tokens
    first_special = min(dict(specials).values()) if specials else known.vocab_size
    ranks = {bytes(known.decode_token_bytes(number)): number for number in range(min(first_special, 199_998))}
    pattern = "|".join(
        [
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    )
    return tiktoken.Encoding("o200k", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def make_usual(path: Path, sections: Sequence[str], notes: Sequence[str]) -> Callable[[str, int], str]:
    """An application's turn: read notes and messages, recall, fill the template, count, ask, keep."""
    templates = peer("langchain_core.prompts")
    text = peer("sklearn.feature_extraction.text")
    engine = create_engine(f"sqlite:///{path}")

    @event.listens_for(engine, "connect")
    def safely(connection: Any, _: Any) -> None:
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            connection.execute(f"PRAGMA {pragma}")

    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all([Note(user="ana", text=note, day="2026-01-15") for note in notes])
        session.commit()
    whole = "\n\n".join(section.replace("{", "{{").replace("}", "}}") for section in sections)
    template = templates.ChatPromptTemplate.from_messages(
        [("system", whole + "\n\n## Memory\n{memories}\n\n## Runtime\n{runtime}"), ("placeholder", "{history}"),
         ("user", "{message}")]
    )  # fmt: skip
    encoding = tiktoken_encoding()

    def turn(message: str, chat: int) -> str:
        with Session(engine) as session:
            session.add(Message(chat=chat, role="user", text=message))
            session.commit()
            found = session.scalars(select(Note).where(Note.user == "ana")).all()
            asked = select(Message).where(Message.chat == chat).order_by(Message.id.desc()).limit(20)
            past = session.scalars(asked).all()
            matrix = text.TfidfVectorizer().fit([note.text for note in found])
            scores = (matrix.transform([note.text for note in found]) @ matrix.transform([message]).T).toarray()[:, 0]
            best = [found[int(index)] for index in scores.argsort()[::-1][:5] if scores[index] > 0]
            prompt = template.invoke(
                {
                    "memories": "\n".join(f"- [{note.day}] {note.text}" for note in best),
                    "runtime": "Channel: web",
                    "history": [(row.role, row.text) for row in reversed(past[1:])],
                    "message": message,
                }
            ).to_messages()
            system = str(prompt[0].content)
            tokens = sum(len(encoding.encode_ordinary(str(said.content))) for said in prompt)
            reply = REPLY
            session.add(Message(chat=chat, role="assistant", text=reply))
            digest = hashlib.sha256(system.encode()).hexdigest()
            session.add(TurnRow(user="ana", prompt_sha256=digest, tokens=tokens, outcome="done"))
            session.commit()
        return reply

    return turn
