-- What is captured comes packed, as the contents of emails do, so that the server does not try it again. `size` is what it was before;
-- null where it was kept as it is.
alter table captured add column size integer;
alter table captured alter column raw set storage external;
