-- What revision 0003 adds, once for both databases; the words that differ are those of tables_0002.sql.
-- A statement ends with ";" at the end of a line. Later revisions change tables; this file stays as it is.

ALTER TABLE turn_records ADD COLUMN detail $name NOT NULL DEFAULT '{}';
ALTER TABLE conversations ADD COLUMN fresh_from BIGINT NOT NULL DEFAULT 0;
CREATE TABLE tool_approvals (
    approval_id $name PRIMARY KEY,
    agent_name $name NOT NULL,
    user_id $name NOT NULL,
    turn_id $name NOT NULL,
    tool $name NOT NULL,
    arguments TEXT,
    sha256 $name NOT NULL,
    at_ns BIGINT NOT NULL,
    expires_at_ns BIGINT NOT NULL,
    state $name NOT NULL,
    decided_by $name NOT NULL DEFAULT '',
    decided_at_ns BIGINT NOT NULL DEFAULT 0,
    used_by_turn $name NOT NULL DEFAULT '',
    chain $name NOT NULL
);
CREATE INDEX approvals_by_agent ON tool_approvals (agent_name, state, at_ns);
CREATE UNIQUE INDEX approvals_open ON tool_approvals (agent_name, user_id, tool, sha256) WHERE state = 'open';
CREATE TABLE agent_controls (
    agent_name $name PRIMARY KEY,
    paused BIGINT NOT NULL DEFAULT 0,
    paused_by $name NOT NULL DEFAULT '',
    paused_at_ns BIGINT NOT NULL DEFAULT 0,
    reason $name NOT NULL DEFAULT '',
    tokens_per_day BIGINT,
    turns_per_day BIGINT
) $clustered;
CREATE TABLE agent_spend (
    agent_name $name NOT NULL,
    day $name NOT NULL,
    tokens BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, day)
) $clustered;
