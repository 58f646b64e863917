#!/bin/sh
# drizzle-orm 0.45.4 and PGlite 0.5.16 (npm) on Node.
#
# Guess: a row that a relational query brings with another row (`with`) has the values that the same query brings by itself.
# Seen:  PostgreSQL sends nested rows as JSON, and they are read as numbers of JavaScript first. A bigint in the mode `bigint`, which is for
#        numbers beyond 2^53, is another number, still of the type BigInt; the numeric 49.10 is the text "49.1"; a timestamp as a text has
#        a T in it; and bytes are a text. Each is right where the row is the top one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund drizzle-orm@0.45.4 @electric-sql/pglite@0.5.16
cat > see.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import { relations } from 'drizzle-orm';
import { bigint, customType, integer, numeric, pgTable, timestamp } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pglite';
const bytea = customType({ dataType: () => 'bytea' });
const shops = pgTable('shops', { id: integer().primaryKey() });
const orders = pgTable('orders', {
  shop: integer(),
  number: bigint({ mode: 'bigint' }),
  price: numeric(),
  at: timestamp({ withTimezone: true, mode: 'string' }),
  key: bytea(),
});
const ofShops = relations(shops, ({ many }) => ({ orders: many(orders) }));
const ofOrders = relations(orders, ({ one }) => ({ inShop: one(shops, { fields: [orders.shop], references: [shops.id] }) }));
const engine = new PGlite();
await engine.exec(`create table shops (id integer primary key); insert into shops values (1);
  create table orders (shop integer, number bigint, price numeric, at timestamptz, key bytea);
  insert into orders values (1, 9007199254740993, 49.10, '2026-11-30T12:00:00Z', '\\x0102')`);
const orm = drizzle(engine, { schema: { shops, orders, ofShops, ofOrders } });
const top = await orm.query.orders.findFirst();
const nested = (await orm.query.shops.findFirst({ with: { orders: true } })).orders[0];
const shown = (value) => (typeof value === 'bigint' ? `${value}n` : value instanceof Uint8Array ? `octets ${value}` : JSON.stringify(value));
for (const name of ['number', 'price', 'at', 'key']) console.log(`${name}: ${shown(top[name])}, nested ${shown(nested[name])}`);
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
number: 9007199254740993n, nested 9007199254740992n
price: "49.10", nested "49.1"
at: "2026-11-30 12:00:00+00", nested "2026-11-30T12:00:00+00:00"
key: octets 1,2, nested "\\x0102"
TEXT
diff expected seen
echo 'As expected.'
