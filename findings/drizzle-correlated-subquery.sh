#!/bin/sh
# drizzle-orm 0.45.4 (npm), Node.
#
# Guess: a column inside sql`…` is written with its table, "books"."author_id", wherever the sql stands.
# Seen:  in the fields of a select from one table, the table is left out: "author_id" = "id". In a correlated subquery both names
#        then belong to the inner table, so that the count is wrong, and no error tells. With a join in the query, and in `where`,
#        the tables are written.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund drizzle-orm@0.45.4
cat > see.mjs <<'JS'
import { sql } from 'drizzle-orm';
import { integer, pgTable, QueryBuilder } from 'drizzle-orm/pg-core';
const authors = pgTable('authors', { id: integer('id') });
const books = pgTable('books', { id: integer('id'), authorId: integer('author_id') });
const count = sql`(select count(*) from ${books} where ${books.authorId} = ${authors.id})`;
const query = new QueryBuilder();
console.log(query.select({ count }).from(authors).toSQL().sql);
console.log(query.select({ count }).from(authors).innerJoin(books, sql`true`).toSQL().sql);
console.log(query.select({ id: authors.id }).from(authors).where(count).toSQL().sql);
JS
node see.mjs | tee seen
cat > expected <<'SQL'
select (select count(*) from "books" where "author_id" = "id") from "authors"
select (select count(*) from "books" where "books"."author_id" = "authors"."id") from "authors" inner join "books" on true
select "id" from "authors" where (select count(*) from "books" where "books"."author_id" = "authors"."id")
SQL
diff expected seen
echo 'As expected.'
