-- The formation: orders, their plans, the agents' queues and what came back. A row's body is the truth. What stands beside it
-- follows from it, and the indexes stand on that.
CREATE TABLE formation (
    repo       TEXT PRIMARY KEY REFERENCES repo (id),
    commands   INTEGER NOT NULL,
    continuous TEXT NOT NULL,
    -- Whether it is up, and how.
    standing   TEXT NOT NULL
) STRICT;

CREATE TABLE command (
    id   TEXT PRIMARY KEY,
    repo TEXT NOT NULL REFERENCES repo (id),
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    open INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (repo, number)
) STRICT;
CREATE INDEX command_open ON command (repo, id) WHERE open = 1;

CREATE TABLE phase (
    id      TEXT PRIMARY KEY,
    command TEXT NOT NULL REFERENCES command (id),
    ordinal INTEGER NOT NULL,
    body    TEXT NOT NULL
) STRICT;
CREATE INDEX phase_of_command ON phase (command, ordinal);

CREATE TABLE plan_task (
    id      TEXT PRIMARY KEY,
    command TEXT NOT NULL REFERENCES command (id),
    ordinal INTEGER NOT NULL,
    state   TEXT NOT NULL,
    body    TEXT NOT NULL
) STRICT;
CREATE INDEX plan_task_of_command ON plan_task (command, ordinal, id);
CREATE INDEX plan_task_paused ON plan_task (command) WHERE state = 'paused_for_replan';
CREATE INDEX plan_task_reported ON plan_task (command) WHERE state = 'verify_pending';

-- What is to be done: up to 64 KB that is written once and stays out of the rows that change.
CREATE TABLE brief (
    task TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE dependence (
    on_task TEXT NOT NULL,
    task    TEXT NOT NULL,
    PRIMARY KEY (on_task, task)
) STRICT;

CREATE TABLE message (
    id          TEXT PRIMARY KEY,
    repo        TEXT NOT NULL REFERENCES repo (id),
    agent       TEXT NOT NULL,
    -- It ends with this command. A notice does not.
    command     TEXT,
    task        TEXT,
    message_key TEXT NOT NULL,
    priority    INTEGER NOT NULL,
    created_ms  INTEGER NOT NULL,
    state       TEXT NOT NULL,
    open        INTEGER NOT NULL,
    not_before_ms INTEGER NOT NULL,
    until_ms    INTEGER,
    -- How often it was given out.
    claims      INTEGER NOT NULL,
    body        TEXT NOT NULL,
    UNIQUE (repo, message_key)
) STRICT;
CREATE INDEX message_pending ON message (repo, agent, priority, created_ms, id) WHERE state = 'pending';
CREATE INDEX message_held ON message (repo, agent) WHERE state = 'held';
CREATE INDEX message_leased ON message (repo, agent, until_ms) WHERE state = 'in_progress';
CREATE INDEX message_open ON message (command) WHERE open = 1;
CREATE INDEX message_of_task ON message (task) WHERE open = 1;
CREATE INDEX message_dead ON message (repo, id) WHERE state = 'dead_letter';

CREATE TABLE result (
    id      TEXT PRIMARY KEY,
    command TEXT NOT NULL REFERENCES command (id),
    task    TEXT,
    applied INTEGER NOT NULL,
    -- The planner is still to be told of it.
    untold  INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    body    TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX result_of_task ON result (task) WHERE applied = 1 AND task IS NOT NULL;
CREATE INDEX result_of_command ON result (command, id);
CREATE INDEX result_untold ON result (command, id) WHERE untold = 1;
CREATE INDEX result_failed ON result (command) WHERE untold = 1 AND outcome = 'failed';

-- Reports that came too late to count.
CREATE TABLE late_report (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    task    TEXT NOT NULL,
    command TEXT NOT NULL,
    body    TEXT NOT NULL
) STRICT;
CREATE INDEX late_report_of_task ON late_report (task, seq);

-- Plans and reports that were refused, for whoever wants to see why. The newest of each repository.
CREATE TABLE kept_input (
    seq  INTEGER PRIMARY KEY AUTOINCREMENT,
    repo TEXT NOT NULL REFERENCES repo (id),
    body TEXT NOT NULL
) STRICT;
CREATE INDEX kept_input_of_repo ON kept_input (repo, seq);
