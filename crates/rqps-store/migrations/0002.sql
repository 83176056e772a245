-- Interleaved runs store blocks as slices: the sum over the short slices of some rounds.

ALTER TABLE slice ADD COLUMN n_rounds INTEGER;
