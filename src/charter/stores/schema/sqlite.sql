-- The tables of Charter on SQLite, as the newest migration leaves them. A statement ends with ";" at the end of a line.

CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));

-- Layers an agent or operator may change (S0-03): the text now, and every text it ever was.
CREATE TABLE prompt_layers (
    agent_name TEXT NOT NULL,
    layer_id TEXT NOT NULL,
    content TEXT NOT NULL,
    updated_at_ns BIGINT NOT NULL,
    updated_by_turn TEXT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (agent_name, layer_id)
) WITHOUT ROWID;
CREATE TABLE layer_versions (
    agent_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    layer_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    content TEXT,
    sha256 TEXT NOT NULL,
    key_id TEXT NOT NULL,
    actor TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    restores BIGINT,
    PRIMARY KEY (agent_name, user_id, layer_id, version)
);
CREATE TABLE layer_labels (
    agent_name TEXT NOT NULL,
    layer_id TEXT NOT NULL,
    label TEXT NOT NULL,
    version BIGINT NOT NULL,
    set_by TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, layer_id, label)
);
CREATE TABLE proposals (
    proposal_id TEXT PRIMARY KEY,
    agent_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    layer_id TEXT NOT NULL,
    head TEXT NOT NULL,
    base_version BIGINT NOT NULL,
    content TEXT,
    sha256 TEXT NOT NULL,
    key_id TEXT NOT NULL,
    actor TEXT NOT NULL,
    proposed_by TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    expires_at_ns BIGINT NOT NULL,
    state TEXT NOT NULL,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_at_ns BIGINT NOT NULL DEFAULT 0,
    applied_version BIGINT NOT NULL DEFAULT 0,
    signature TEXT NOT NULL DEFAULT ''
);
CREATE INDEX proposals_by_agent ON proposals (agent_name, state, at_ns);

-- The change log: hash-chained, one chain per agent and one per person with an agent (N-03).
CREATE TABLE change_log (
    chain TEXT NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    place TEXT NOT NULL,
    version BIGINT NOT NULL,
    content_sha256 TEXT NOT NULL,
    actor TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    detail TEXT NOT NULL,
    prev_sha256 TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    seal TEXT NOT NULL,
    key_id TEXT NOT NULL,
    PRIMARY KEY (chain, seq)
);
CREATE TABLE chain_heads (
    chain TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    sha256 TEXT NOT NULL
) WITHOUT ROWID;

-- Agents and users (the assistant design's tables).
CREATE TABLE agent_configurations (
    agent_name TEXT NOT NULL PRIMARY KEY,
    soul TEXT,
    identity TEXT,
    soul_version BIGINT NOT NULL DEFAULT 0,
    identity_version BIGINT NOT NULL DEFAULT 0,
    updated_at_ns BIGINT NOT NULL DEFAULT 0,
    updated_by TEXT NOT NULL DEFAULT 'init'
);
CREATE TABLE user_agent_prompt_customizations (
    user_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    instructions TEXT NOT NULL DEFAULT '',
    version BIGINT NOT NULL DEFAULT 0,
    updated_at_ns BIGINT NOT NULL DEFAULT 0,
    updated_by TEXT NOT NULL DEFAULT 'init',
    CONSTRAINT uq_user_agent_instructions UNIQUE (user_id, agent_name)
);
CREATE TABLE user_settings (
    user_id TEXT NOT NULL PRIMARY KEY,
    timezone TEXT
);

-- Messages: whole texts in inbox and outbox, 500 characters of each side in the conversation log (S0-12).
CREATE TABLE inbox_messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_name TEXT NOT NULL,
    message_id TEXT NOT NULL,
    sender TEXT NOT NULL,
    user_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    body TEXT NOT NULL,
    received_at_ns BIGINT NOT NULL,
    state TEXT NOT NULL DEFAULT 'staged',
    turn_id TEXT NOT NULL DEFAULT '',
    done_at_ns BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT uq_inbox_message UNIQUE (agent_name, message_id)
);
CREATE INDEX inbox_open ON inbox_messages (agent_name, seq) WHERE state <> 'done';
CREATE INDEX inbox_by_sender ON inbox_messages (agent_name, sender);
CREATE TABLE outbox_messages (
    agent_name TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    recipient TEXT NOT NULL,
    part BIGINT NOT NULL,
    channel TEXT NOT NULL,
    body TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    sent_at_ns BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (agent_name, turn_id, recipient, part)
);
CREATE INDEX outbox_by_recipient ON outbox_messages (agent_name, recipient, at_ns);
CREATE INDEX outbox_unsent ON outbox_messages (agent_name, at_ns) WHERE sent_at_ns = 0;
CREATE TABLE turn_leases (
    agent_name TEXT NOT NULL,
    lane TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    until_ns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, lane)
);
CREATE TABLE conversations (
    agent_name TEXT NOT NULL,
    sender TEXT NOT NULL,
    last_activity_ns BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    fresh_from BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (agent_name, sender)
);
CREATE INDEX conversations_by_activity ON conversations (agent_name, last_activity_ns, sender);
CREATE TABLE conversation_entries (
    agent_name TEXT NOT NULL,
    sender TEXT NOT NULL,
    seq BIGINT NOT NULL,
    inbox_message_id TEXT NOT NULL,
    sender_body TEXT NOT NULL,
    agent_reply TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    timestamp_ns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, sender, seq)
);

-- Memory: notes with their provenance, and the terms they are found by (N-10).
CREATE TABLE memory_owners (
    owner_id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    notes BIGINT NOT NULL DEFAULT 0,
    terms BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT uq_memory_owner UNIQUE (agent_name, user_id)
);
CREATE TABLE agent_long_term_memory (
    note_id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    notes TEXT NOT NULL,
    day TEXT NOT NULL,
    created_at_ns BIGINT NOT NULL,
    said_by TEXT NOT NULL,
    channel TEXT NOT NULL,
    source_class TEXT NOT NULL,
    source TEXT NOT NULL,
    trust BIGINT NOT NULL,
    length BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    key_id TEXT NOT NULL,
    revoked_at_ns BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX memory_by_owner ON agent_long_term_memory (agent_name, user_id, note_id) WHERE revoked_at_ns = 0;
CREATE TABLE memory_terms (
    owner_id BIGINT NOT NULL,
    term TEXT NOT NULL,
    note_id BIGINT NOT NULL,
    tf BIGINT NOT NULL,
    length BIGINT NOT NULL,
    PRIMARY KEY (owner_id, term, note_id)
) WITHOUT ROWID;
CREATE TABLE memory_sources (
    agent_name TEXT NOT NULL,
    source TEXT NOT NULL,
    note_id BIGINT NOT NULL,
    PRIMARY KEY (agent_name, source, note_id)
) WITHOUT ROWID;

-- Turns: hashes, codes and counts; never text (N-01).
CREATE TABLE turn_records (
    agent_name TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    channel TEXT NOT NULL,
    sender TEXT NOT NULL,
    user_id TEXT NOT NULL,
    charter TEXT NOT NULL,
    charter_version TEXT NOT NULL,
    mode TEXT NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT NOT NULL,
    stack_sha256 TEXT NOT NULL,
    payload_sha256 TEXT NOT NULL,
    tools_sha256 TEXT NOT NULL,
    manifest TEXT NOT NULL,
    counts TEXT NOT NULL,
    chain TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (agent_name, turn_id)
);
CREATE INDEX turns_by_time ON turn_records (agent_name, at_ns);

-- Calls of tools that wait for a person: one approval, one execution (S1-08).
CREATE TABLE tool_approvals (
    approval_id TEXT PRIMARY KEY,
    agent_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT,
    sha256 TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    expires_at_ns BIGINT NOT NULL,
    state TEXT NOT NULL,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_at_ns BIGINT NOT NULL DEFAULT 0,
    used_by_turn TEXT NOT NULL DEFAULT '',
    chain TEXT NOT NULL
);
CREATE INDEX approvals_by_agent ON tool_approvals (agent_name, state, at_ns);
CREATE UNIQUE INDEX approvals_open ON tool_approvals (agent_name, user_id, tool, sha256) WHERE state = 'open';

-- The stop switch, and what was spent on a day (N-19).
CREATE TABLE agent_controls (
    agent_name TEXT PRIMARY KEY,
    paused BIGINT NOT NULL DEFAULT 0,
    paused_by TEXT NOT NULL DEFAULT '',
    paused_at_ns BIGINT NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    tokens_per_day BIGINT,
    turns_per_day BIGINT
) WITHOUT ROWID;
CREATE TABLE agent_spend (
    agent_name TEXT NOT NULL,
    day TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, day)
) WITHOUT ROWID;

-- Served: tokens by the hash of their secret, turns by the clock, and which peer on a channel is which user.
CREATE TABLE api_tokens (
    token_id TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    channel TEXT NOT NULL,
    made_by TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    expires_at_ns BIGINT NOT NULL,
    revoked_at_ns BIGINT NOT NULL DEFAULT 0,
    revoked_by TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX tokens_by_hash ON api_tokens (sha256);
CREATE TABLE schedules (
    schedule_id TEXT PRIMARY KEY,
    agent_name TEXT NOT NULL,
    cron TEXT NOT NULL,
    timezone TEXT NOT NULL,
    body TEXT NOT NULL,
    channel TEXT NOT NULL,
    recipient TEXT NOT NULL,
    user_id TEXT NOT NULL,
    catch_up TEXT NOT NULL,
    made_by TEXT NOT NULL,
    at_ns BIGINT NOT NULL
);
CREATE INDEX schedules_by_agent ON schedules (agent_name, at_ns);
CREATE TABLE schedule_runs (
    schedule_id TEXT NOT NULL,
    tick_ns BIGINT NOT NULL,
    state TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    code TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    PRIMARY KEY (schedule_id, tick_ns)
) WITHOUT ROWID;
CREATE TABLE channel_peers (
    agent_name TEXT NOT NULL,
    channel TEXT NOT NULL,
    peer TEXT NOT NULL,
    user_id TEXT NOT NULL,
    made_by TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, channel, peer)
) WITHOUT ROWID;
CREATE TABLE channel_pairings (
    code_sha256 TEXT PRIMARY KEY,
    agent_name TEXT NOT NULL,
    channel TEXT NOT NULL,
    user_id TEXT NOT NULL,
    made_by TEXT NOT NULL,
    at_ns BIGINT NOT NULL,
    expires_at_ns BIGINT NOT NULL
);

-- ── The archive of revision 0002 (migrations/versions/0002_charter.py) ──────────────────────────────────────────────
-- The old assistant's tables, moved aside whole so that the way back is exact; empty in a new database. In one that was
-- migrated they have every column the old ones had, which may be more than these. Nothing of Charter's reads them.
CREATE TABLE legacy_agent_configurations (
    agent_name TEXT NOT NULL PRIMARY KEY,
    system_prompt TEXT
);
CREATE TABLE legacy_user_agent_prompt_customizations (
    user_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    customization_type TEXT NOT NULL,
    content TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT uq_user_agent_customization_type UNIQUE (user_id, agent_name, customization_type)
);
CREATE TABLE legacy_agent_long_term_memory (
    user_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    notes TEXT,
    CONSTRAINT uq_user_agent_memory UNIQUE (user_id, agent_name)
);
