-- A delivery whose first attempt is made at once is kept by its instance, as the birth of an email is: until it has had a turn its `wake_at` is
-- null, so that it has no place among what is due. Its outcome then changes no column that is indexed, and its row stays in its page as long
-- as there is room for it.
alter table webhook_deliveries add column kept_by integer;
alter table webhook_deliveries set (fillfactor = 55);
