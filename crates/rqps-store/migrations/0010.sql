-- Runs of other tools: where they come from, and what their files state in place of counts.

ALTER TABLE run ADD COLUMN imported TEXT;
ALTER TABLE slice ADD COLUMN stated TEXT;
