"""Where the facts of layers come from; a source is a row in charter.toml with one method, `gather`."""

from .ask import Ask, Gathered, Home, Source, World
from .caller import CallerText
from .listing import EnabledSkills, WorkspaceSkills
from .live import Channel, Clock, Host, Runtime, ToolFlags, Tools
from .pages import AgentDef, AgentFile, Page, ProjectContext, PromptFile, WorkspaceFiles
from .people import Identity, IdentityFile, Instructions, Soul, SoulTag, UserFile
from .stored import History, Inbox, Recall, Recent, Stored
from .user import UserInput
from .vitals import VitalSigns

AnySource = (
    AgentFile
    | CallerText
    | Channel
    | Clock
    | EnabledSkills
    | History
    | Host
    | Identity
    | IdentityFile
    | Inbox
    | Instructions
    | Page
    | ProjectContext
    | PromptFile
    | Recall
    | Recent
    | Runtime
    | Soul
    | SoulTag
    | Stored
    | ToolFlags
    | Tools
    | UserFile
    | UserInput
    | VitalSigns
    | WorkspaceFiles
    | WorkspaceSkills
)

__all__ = ["AgentDef", "AnySource", "Ask", "Gathered", "Home", "Source", "World"]
