-- A run that may be a reason for a need: not over, failed, or with kept work. What is needed is derived, never stored.
ALTER TABLE run ADD COLUMN may_need BIGINT NOT NULL DEFAULT 0;
UPDATE run SET may_need = 1 WHERE open = 1 OR id IN (
    SELECT id FROM subject
    WHERE machine = 'run' AND (body LIKE '%"course":"failed"%' OR body LIKE '%"preserved":{%')
);
CREATE INDEX run_may_need ON run (host, task) WHERE may_need = 1;

-- What a person did about a need, by its id.
CREATE TABLE need_answer (
    need   TEXT PRIMARY KEY,
    answer TEXT NOT NULL,
    at     TEXT NOT NULL
);

-- A run was refused because the repository's configuration is not trusted.
CREATE TABLE trust_wanted (
    repo   TEXT PRIMARY KEY REFERENCES repo (id),
    digest TEXT NOT NULL,
    at     TEXT NOT NULL
);

-- What people were told about, once each. Begun and not done: the daemon ended in between.
CREATE TABLE notice (
    host       TEXT NOT NULL,
    occurrence TEXT NOT NULL,
    begun_at   TEXT NOT NULL,
    done_at    TEXT,
    PRIMARY KEY (host, occurrence)
);

-- The newest event that a notice was begun for.
CREATE TABLE notice_cursor (
    host TEXT PRIMARY KEY,
    seq  BIGINT NOT NULL
);

-- How it last went on each way.
CREATE TABLE notice_way (
    host  TEXT NOT NULL,
    way   TEXT NOT NULL,
    at    TEXT NOT NULL,
    error TEXT,
    PRIMARY KEY (host, way)
);
