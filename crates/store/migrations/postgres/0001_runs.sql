-- Repositories, tasks, runs and their facts, worktrees, local pull requests, the event log.
CREATE TABLE life (
    host  TEXT PRIMARY KEY,
    epoch BIGINT NOT NULL
);

CREATE TABLE counter (
    name  TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counter (name, value) VALUES ('task', 0);

-- Paths mean something on their own host only: one database may serve several.
CREATE TABLE repo (
    id         TEXT PRIMARY KEY,
    host       TEXT NOT NULL,
    root       TEXT NOT NULL,
    git_dir    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (host, git_dir)
);

CREATE TABLE task (
    number     BIGINT PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    repo       TEXT NOT NULL REFERENCES repo (id),
    title      TEXT NOT NULL,
    created_at TEXT NOT NULL,
    picked     TEXT
);
CREATE INDEX task_of_repo ON task (repo, number);

-- facts is the truth. branch, waiting, live and open are projections of it for the indexes below.
CREATE TABLE run (
    seq     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    run_key TEXT NOT NULL,
    task    TEXT NOT NULL REFERENCES task (id),
    repo    TEXT NOT NULL REFERENCES repo (id),
    host    TEXT NOT NULL,
    branch  TEXT,
    waiting BIGINT NOT NULL,
    live    BIGINT NOT NULL,
    open    BIGINT NOT NULL,
    facts   TEXT NOT NULL
);
ALTER TABLE run SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX run_of_task ON run (task, seq);
CREATE INDEX run_by_key ON run (run_key);
CREATE INDEX run_waiting ON run (host, seq) WHERE waiting = 1;
CREATE INDEX run_live ON run (host) WHERE live = 1;
CREATE INDEX run_unsettled ON run (repo, seq) WHERE open = 1;
CREATE INDEX run_begun ON run (host, seq) WHERE open = 1 AND waiting = 0;

-- What was asked, instruction included: up to a MiB that is written once and stays out of the rows that change.
CREATE TABLE run_spec (
    run  TEXT PRIMARY KEY REFERENCES run (id),
    spec TEXT NOT NULL
);

CREATE TABLE worktree (
    worktree_key TEXT PRIMARY KEY,
    repo         TEXT NOT NULL REFERENCES repo (id),
    path         TEXT NOT NULL,
    branch       TEXT NOT NULL,
    base         TEXT NOT NULL,
    base_oid     TEXT NOT NULL,
    owner        TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    removed_at   TEXT,
    -- Made for it, and so may go with it.
    branch_is_ours BIGINT NOT NULL
);
CREATE INDEX worktree_of_repo ON worktree (repo) WHERE removed_at IS NULL;

CREATE TABLE keepsake (
    repo         TEXT NOT NULL REFERENCES repo (id),
    reference    TEXT NOT NULL,
    worktree_key TEXT NOT NULL,
    oid          TEXT NOT NULL,
    branch       TEXT NOT NULL,
    path         TEXT NOT NULL,
    at           TEXT NOT NULL,
    PRIMARY KEY (repo, reference)
);

CREATE TABLE pull (
    repo       TEXT NOT NULL REFERENCES repo (id),
    number     BIGINT NOT NULL,
    run        TEXT,
    title      TEXT NOT NULL,
    body       TEXT NOT NULL,
    head       TEXT NOT NULL,
    base       TEXT NOT NULL,
    head_oid   TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (repo, number)
);
CREATE UNIQUE INDEX pull_open ON pull (repo, head) WHERE state = 'open';

-- seq is given after the commit, in the order in which rows became visible; row_id is only the order of writing.
CREATE TABLE event (
    row_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seq    BIGINT UNIQUE,
    at     TEXT NOT NULL,
    repo   TEXT,
    task   TEXT,
    run    TEXT,
    kind   TEXT NOT NULL,
    body   TEXT NOT NULL
);
CREATE INDEX event_not_numbered ON event (row_id) WHERE seq IS NULL;
CREATE INDEX event_of_run ON event (run, seq);
CREATE INDEX event_of_task ON event (task, seq);
CREATE INDEX event_of_repo ON event (repo, seq);
