-- What revision 0004 adds, once for both databases; the words that differ are those of tables_0002.sql.
-- A statement ends with ";" at the end of a line. Later revisions change tables; this file stays as it is.

DROP INDEX outbox_by_recipient;
CREATE INDEX outbox_by_recipient ON outbox_messages (agent_name, recipient, at_ns);
CREATE TABLE api_tokens (
    token_id $name PRIMARY KEY,
    sha256 $name NOT NULL,
    role $name NOT NULL,
    name $name NOT NULL,
    agent_name $name NOT NULL,
    channel $name NOT NULL,
    made_by $name NOT NULL,
    at_ns BIGINT NOT NULL,
    expires_at_ns BIGINT NOT NULL,
    revoked_at_ns BIGINT NOT NULL DEFAULT 0,
    revoked_by $name NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX tokens_by_hash ON api_tokens (sha256);
CREATE TABLE schedules (
    schedule_id $name PRIMARY KEY,
    agent_name $name NOT NULL,
    cron $name NOT NULL,
    timezone $name NOT NULL,
    body $name NOT NULL,
    channel $name NOT NULL,
    recipient $name NOT NULL,
    user_id $name NOT NULL,
    catch_up $name NOT NULL,
    made_by $name NOT NULL,
    at_ns BIGINT NOT NULL
);
CREATE INDEX schedules_by_agent ON schedules (agent_name, at_ns);
CREATE TABLE schedule_runs (
    schedule_id $name NOT NULL,
    tick_ns BIGINT NOT NULL,
    state $name NOT NULL,
    turn_id $name NOT NULL,
    code $name NOT NULL,
    at_ns BIGINT NOT NULL,
    PRIMARY KEY (schedule_id, tick_ns)
) $clustered;
CREATE TABLE channel_peers (
    agent_name $name NOT NULL,
    channel $name NOT NULL,
    peer $name NOT NULL,
    user_id $name NOT NULL,
    made_by $name NOT NULL,
    at_ns BIGINT NOT NULL,
    PRIMARY KEY (agent_name, channel, peer)
) $clustered;
CREATE TABLE channel_pairings (
    code_sha256 $name PRIMARY KEY,
    agent_name $name NOT NULL,
    channel $name NOT NULL,
    user_id $name NOT NULL,
    made_by $name NOT NULL,
    at_ns BIGINT NOT NULL,
    expires_at_ns BIGINT NOT NULL
);
