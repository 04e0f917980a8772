-- What the guards saw and said, taken in from the files the hooks write.
CREATE TABLE guard_record (
    host        TEXT NOT NULL,
    -- Where it was read: the same line is taken in once. Its hash is for a file that was removed and begun again.
    folder      TEXT NOT NULL,
    segment     TEXT NOT NULL,
    position    BIGINT NOT NULL,
    hash        BIGINT NOT NULL,
    at_ms       BIGINT NOT NULL,
    session     TEXT,
    event       TEXT NOT NULL,
    verdict     TEXT NOT NULL,
    guard       TEXT,
    body        TEXT NOT NULL,
    PRIMARY KEY (host, folder, segment, position, hash)
);
CREATE INDEX guard_record_by_time ON guard_record (host, at_ms);

CREATE TABLE guard_cursor (
    host    TEXT NOT NULL,
    folder  TEXT NOT NULL,
    segment TEXT NOT NULL,
    next    BIGINT NOT NULL,
    PRIMARY KEY (host, folder, segment)
);
