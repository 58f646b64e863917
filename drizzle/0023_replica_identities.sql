-- These have no key. A publication for all tables, as for moving to another major version, would refuse their deletions.
alter table usage_entries replica identity full;
alter table campaign_tallies replica identity full;
alter table flow_tallies replica identity full;
