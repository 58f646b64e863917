import postgres from 'postgres';

/**
 * Drops the databases that tests created and did not close, and names them: a leak is a failure of its test.
 */
export async function dropLeftovers(serverUrl: string): Promise<string[]> {
  const sql = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    const rows = await sql<{ name: string }[]>`
      select datname as name from pg_database where datname like 'posthorn\\_test\\_%' order by 1`;
    for (const { name } of rows) await sql.unsafe(`drop database ${name} with (force)`);
    return rows.map(({ name }) => name);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
