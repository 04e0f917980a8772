-- Whether a worktree's branch was made for it, and so may go with it. What is not under our prefix may be its user's.
ALTER TABLE worktree ADD COLUMN branch_is_ours BIGINT NOT NULL DEFAULT 1;
UPDATE worktree SET branch_is_ours = 0 WHERE branch NOT LIKE 'dandori/%';
CREATE INDEX run_unsettled ON run (repo, seq) WHERE open = 1;
