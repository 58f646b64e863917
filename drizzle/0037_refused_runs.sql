-- A clock takes a thousand runs in its life: how many it has refused is told, since nobody is there to be answered when they would begin.
alter table test_clocks add column runs_refused integer not null default 0;
