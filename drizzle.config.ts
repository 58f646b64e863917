import { defineConfig } from 'drizzle-kit';

// For looking into a database: `DATABASE_URL=postgres://… bun run studio`. Migrations are written by hand (drizzle/*.sql),
// since partitions and partial indexes are beyond what is generated; tests/integration/schema.test.ts holds both together.
export default defineConfig({
  dialect: 'postgresql',
  schema: './src/platform/db/schema/*.ts',
  dbCredentials: { url: process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres' },
});
