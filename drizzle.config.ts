import { defineConfig } from 'drizzle-kit';

// drizzle-kit writes migrations from the schema: see drizzle/README.md.
// `DATABASE_URL=postgres://… bun run studio` looks into a database.
export default defineConfig({
  dialect: 'postgresql',
  schema: './src/platform/db/schema/*.ts',
  out: './drizzle',
  breakpoints: false,
  dbCredentials: { url: process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres' },
});
