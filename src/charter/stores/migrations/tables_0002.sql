-- The tables revision 0002 makes, once for both databases; only these words differ, and each stands for:
--   $name       TEXT COLLATE "C" on PostgreSQL (compares by code point, as on SQLite), TEXT on SQLite
--   $json       JSONB, TEXT
--   $number     a key the database counts up
--   $clustered  nothing, WITHOUT ROWID
-- A statement ends with ";" at the end of a line. Later revisions change tables; this file stays as it is.

-- Layers an agent or operator may change (S0-03): the text now, and every text it ever was.
CREATE TABLE prompt_layers (
    agent_name $name NOT NULL,
    layer_id $name NOT NULL,
    content $name NOT NULL,
    updated_at_ns BIGINT NOT NULL,
    updated_by_turn $name NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (agent_name, layer_id)
) $clustered;
CREATE TABLE layer_versions (
    agent_name $name NOT NULL,
    user_id $name NOT NULL,
    layer_id $name NOT NULL,
    version BIGINT NOT NULL,
    content TEXT,
    sha256 $name NOT NULL,
    key_id $name NOT NULL,
    actor $name NOT NULL,
    updated_by $name NOT NULL,
    at_ns BIGINT NOT NULL,
    restores BIGINT,
    PRIMARY KEY (agent_name, user_id, layer_id, version)
);
CREATE TABLE layer_labels (
    agent_name $name NOT NULL,
    layer_id $name NOT NULL,
    label $name NOT NULL,
    version BIGINT NOT NULL,
    set_by $name NOT NULL,
    at_ns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, layer_id, label)
);
CREATE TABLE proposals (
    proposal_id $name PRIMARY KEY,
    agent_name $name NOT NULL,
    user_id $name NOT NULL,
    layer_id $name NOT NULL,
    head $name NOT NULL,
    base_version BIGINT NOT NULL,
    content TEXT,
    sha256 $name NOT NULL,
    key_id $name NOT NULL,
    actor $name NOT NULL,
    proposed_by $name NOT NULL,
    turn_id $name NOT NULL,
    reason $name NOT NULL,
    at_ns BIGINT NOT NULL,
    expires_at_ns BIGINT NOT NULL,
    state $name NOT NULL,
    decided_by $name NOT NULL DEFAULT '',
    decided_at_ns BIGINT NOT NULL DEFAULT 0,
    applied_version BIGINT NOT NULL DEFAULT 0,
    signature $name NOT NULL DEFAULT ''
);
CREATE INDEX proposals_by_agent ON proposals (agent_name, state, at_ns);

-- The change log: hash-chained, one chain per agent and one per person with an agent (N-03).
CREATE TABLE change_log (
    chain $name NOT NULL,
    seq BIGINT NOT NULL,
    kind $name NOT NULL,
    place $name NOT NULL,
    version BIGINT NOT NULL,
    content_sha256 $name NOT NULL,
    actor $name NOT NULL,
    at_ns BIGINT NOT NULL,
    detail $name NOT NULL,
    prev_sha256 $name NOT NULL,
    sha256 $name NOT NULL,
    seal $name NOT NULL,
    key_id $name NOT NULL,
    PRIMARY KEY (chain, seq)
);
CREATE TABLE chain_heads (
    chain $name PRIMARY KEY,
    seq BIGINT NOT NULL,
    sha256 $name NOT NULL
) $clustered;

-- Agents and users (the assistant design's tables).
CREATE TABLE agent_configurations (
    agent_name $name NOT NULL PRIMARY KEY,
    soul TEXT,
    identity $json,
    soul_version BIGINT NOT NULL DEFAULT 0,
    identity_version BIGINT NOT NULL DEFAULT 0,
    updated_at_ns BIGINT NOT NULL DEFAULT 0,
    updated_by $name NOT NULL DEFAULT 'init'
);
CREATE TABLE user_agent_prompt_customizations (
    user_id $name NOT NULL,
    agent_name $name NOT NULL,
    instructions $name NOT NULL DEFAULT '',
    version BIGINT NOT NULL DEFAULT 0,
    updated_at_ns BIGINT NOT NULL DEFAULT 0,
    updated_by $name NOT NULL DEFAULT 'init',
    CONSTRAINT uq_user_agent_instructions UNIQUE (user_id, agent_name)
);
CREATE TABLE user_settings (
    user_id $name NOT NULL PRIMARY KEY,
    timezone TEXT
);

-- Messages: whole texts in inbox and outbox, 500 characters of each side in the conversation log (S0-12).
CREATE TABLE inbox_messages (
    seq $number,
    agent_name $name NOT NULL,
    message_id $name NOT NULL,
    sender $name NOT NULL,
    user_id $name NOT NULL,
    channel $name NOT NULL,
    body $name NOT NULL,
    received_at_ns BIGINT NOT NULL,
    state $name NOT NULL DEFAULT 'staged',
    turn_id $name NOT NULL DEFAULT '',
    done_at_ns BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT uq_inbox_message UNIQUE (agent_name, message_id)
);
CREATE INDEX inbox_open ON inbox_messages (agent_name, seq) WHERE state <> 'done';
CREATE INDEX inbox_by_sender ON inbox_messages (agent_name, sender);
CREATE TABLE outbox_messages (
    agent_name $name NOT NULL,
    turn_id $name NOT NULL,
    recipient $name NOT NULL,
    part BIGINT NOT NULL,
    channel $name NOT NULL,
    body $name NOT NULL,
    at_ns BIGINT NOT NULL,
    sent_at_ns BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (agent_name, turn_id, recipient, part)
);
CREATE INDEX outbox_by_recipient ON outbox_messages (agent_name, recipient);
CREATE INDEX outbox_unsent ON outbox_messages (agent_name, at_ns) WHERE sent_at_ns = 0;
CREATE TABLE turn_leases (
    agent_name $name NOT NULL,
    lane $name NOT NULL,
    turn_id $name NOT NULL,
    until_ns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, lane)
);
CREATE TABLE conversations (
    agent_name $name NOT NULL,
    sender $name NOT NULL,
    last_activity_ns BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    PRIMARY KEY (agent_name, sender)
);
CREATE INDEX conversations_by_activity ON conversations (agent_name, last_activity_ns, sender);
CREATE TABLE conversation_entries (
    agent_name $name NOT NULL,
    sender $name NOT NULL,
    seq BIGINT NOT NULL,
    inbox_message_id $name NOT NULL,
    sender_body $name NOT NULL,
    agent_reply $name NOT NULL,
    turn_id $name NOT NULL,
    timestamp_ns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, sender, seq)
);

-- Memory: notes with their provenance, and the terms they are found by (N-10).
CREATE TABLE memory_owners (
    owner_id $number,
    agent_name $name NOT NULL,
    user_id $name NOT NULL,
    notes BIGINT NOT NULL DEFAULT 0,
    terms BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT uq_memory_owner UNIQUE (agent_name, user_id)
);
CREATE TABLE agent_long_term_memory (
    note_id $number,
    user_id $name NOT NULL,
    agent_name $name NOT NULL,
    notes $name NOT NULL,
    day $name NOT NULL,
    created_at_ns BIGINT NOT NULL,
    said_by $name NOT NULL,
    channel $name NOT NULL,
    source_class $name NOT NULL,
    source $name NOT NULL,
    trust BIGINT NOT NULL,
    length BIGINT NOT NULL,
    sha256 $name NOT NULL,
    key_id $name NOT NULL,
    revoked_at_ns BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX memory_by_owner ON agent_long_term_memory (agent_name, user_id, note_id) WHERE revoked_at_ns = 0;
CREATE TABLE memory_terms (
    owner_id BIGINT NOT NULL,
    term $name NOT NULL,
    note_id BIGINT NOT NULL,
    tf BIGINT NOT NULL,
    length BIGINT NOT NULL,
    PRIMARY KEY (owner_id, term, note_id)
) $clustered;
CREATE TABLE memory_sources (
    agent_name $name NOT NULL,
    source $name NOT NULL,
    note_id BIGINT NOT NULL,
    PRIMARY KEY (agent_name, source, note_id)
) $clustered;

-- Turns: hashes, codes and counts; never text (N-01).
CREATE TABLE turn_records (
    agent_name $name NOT NULL,
    turn_id $name NOT NULL,
    at_ns BIGINT NOT NULL,
    channel $name NOT NULL,
    sender $name NOT NULL,
    user_id $name NOT NULL,
    charter $name NOT NULL,
    charter_version $name NOT NULL,
    mode $name NOT NULL,
    outcome $name NOT NULL,
    code $name NOT NULL,
    stack_sha256 $name NOT NULL,
    payload_sha256 $name NOT NULL,
    tools_sha256 $name NOT NULL,
    manifest $name NOT NULL,
    counts $name NOT NULL,
    chain $name NOT NULL,
    PRIMARY KEY (agent_name, turn_id)
);
CREATE INDEX turns_by_time ON turn_records (agent_name, at_ns);
