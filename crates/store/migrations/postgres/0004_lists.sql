-- What lists of tasks are narrowed by. Both follow from a run's facts.
ALTER TABLE run ADD COLUMN status TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN agent TEXT NOT NULL DEFAULT '';
