-- The moment before which data of an environment has been removed, or is about to be. It never goes back: with longer settings
-- afterwards, what is gone stays gone.
create table retention (
  livemode boolean primary key,
  removed_before timestamptz not null
);
