import type { Database } from '../../src/platform/db/database.ts';

/**
 * Functions of Citus in a database of one server: they hold each table against the rules of Citus, write down
 * what was asked, and leave the rows where they are. A workspace has one of four shards.
 */
export const installStandIn = (database: Database): Promise<void> =>
  database.script(`
create table pg_dist_partition (logicalrelid regclass primary key, colocated_with text not null);
create table refused (logicalrelid regclass primary key);

create function create_distributed_table(spread regclass, by text, colocate_with text) returns void language plpgsql as $$
declare broken text;
begin
  if exists (select from refused r where r.logicalrelid = spread) then raise 'A node is away.'; end if;
  if exists (select from pg_dist_partition d where d.logicalrelid = spread) then raise '% is distributed already', spread; end if;
  if colocate_with <> 'default' and not exists (select from pg_dist_partition d where d.logicalrelid = colocate_with::regclass)
    then raise '% is not distributed', colocate_with; end if;
  if not exists (select from pg_attribute a where a.attrelid = spread and a.attname = by and a.atttypid = 'text'::regtype
      and a.attcollation = (select oid from pg_collation where collname = 'C' and collnamespace = 'pg_catalog'::regnamespace))
    then raise '% has no % that could be placed beside the others', spread, by; end if;
  select i.indexrelid::regclass::text into broken from pg_index i where i.indrelid = spread and i.indisunique and not exists (
    select from pg_attribute a where a.attrelid = spread and a.attname = by and a.attnum = any(i.indkey)) limit 1;
  if broken is not null then raise 'cannot create constraint on %: % lacks %', spread, broken, by; end if;
  if exists (select from pg_constraint c where c.contype = 'f' and spread in (c.conrelid, c.confrelid))
    then raise '% has a foreign key to what is not distributed', spread; end if;
  if exists (select from pg_trigger t where t.tgrelid = spread and not t.tgisinternal)
    then raise '% has triggers', spread; end if;
  insert into pg_dist_partition values (spread, colocate_with);
end $$;

create function truncate_local_data_after_distributing_table(spread regclass) returns void language sql
  return (select null::void from pg_dist_partition d where d.logicalrelid = spread);

create function get_shard_id_for_distribution_column(spread regclass, value text) returns bigint language sql
  return (select 102008 + abs(hashtext(value)) % 4 from pg_dist_partition d where d.logicalrelid = spread);
`);
