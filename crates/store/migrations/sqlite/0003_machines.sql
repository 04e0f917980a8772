-- One table for the facts of every machine. What a machine is found by stands in a table of its own (run, pull).
CREATE TABLE subject (
    machine      TEXT NOT NULL,
    id           TEXT NOT NULL,
    host         TEXT NOT NULL,
    -- Somebody has to walk it: it neither waits for something from outside nor is over.
    walked       INTEGER NOT NULL,
    -- How often it was taken, by whom the last time, and until when: what an earlier holder writes is refused.
    lease_epoch  INTEGER NOT NULL DEFAULT 0,
    lease_holder TEXT,
    lease_until  TEXT,
    -- Of the body's form.
    version      INTEGER NOT NULL,
    body         TEXT NOT NULL,
    PRIMARY KEY (machine, id)
) STRICT;
CREATE INDEX subject_walked ON subject (host, machine, id) WHERE walked = 1;

-- What was asked: up to a MiB that is written once and stays out of the rows that change.
CREATE TABLE subject_spec (
    machine TEXT NOT NULL,
    id      TEXT NOT NULL,
    spec    TEXT NOT NULL,
    PRIMARY KEY (machine, id)
) STRICT;

INSERT INTO subject (machine, id, host, walked, version, body) SELECT 'run', id, host, 0, 1, facts FROM run;
INSERT INTO subject_spec (machine, id, spec) SELECT 'run', run, spec FROM run_spec;
DROP TABLE run_spec;
DROP INDEX run_begun;
ALTER TABLE run DROP COLUMN facts;

-- The embedded forge's own; pull is ours, on whichever forge.
ALTER TABLE pull RENAME TO local_pull;
CREATE TABLE pull (
    id   TEXT PRIMARY KEY,
    repo TEXT NOT NULL REFERENCES repo (id),
    task TEXT NOT NULL,
    run  TEXT NOT NULL,
    head TEXT NOT NULL,
    over INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX pull_of_head ON pull (repo, head) WHERE over = 0;
CREATE INDEX pull_of_task ON pull (task, id);

ALTER TABLE event ADD COLUMN machine TEXT;
ALTER TABLE event ADD COLUMN subject TEXT;
-- The subject's status after the fact.
ALTER TABLE event ADD COLUMN status TEXT;
UPDATE event SET machine = 'run', subject = run WHERE run IS NOT NULL;
