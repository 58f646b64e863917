import { loadPgliteAssets } from './pglite-assets.ts';

// Imported before everything else. To compile PGlite takes a quarter of a second on other threads; begun here, it is done while this
// one evaluates the rest of the program. What it was begun for in vain costs only that: other commands do not begin it.

const [command = 'serve'] = process.argv.slice(2);
if (command === 'serve' && !process.env.DATABASE_URL)
  // The one who needs it awaits the same promise and tells of the failure.
  loadPgliteAssets().catch(() => {});
