-- The command that started a run is a list of its words, as JSON. rqps takes the quoted text of earlier runs apart
-- after this, as SQL cannot.

-- Plans say how many starts of the servers there are under that name.
UPDATE run SET plan = replace(plan, char(10) || 'restarts = ', char(10) || 'starts = ');
