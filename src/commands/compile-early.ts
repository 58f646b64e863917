import { usesEmbedded } from '../config/config.ts';
import { loadPgliteAssets } from '../db/pglite-assets.ts';
import { usualCompilers } from './usual-compilers.ts';

// Imported before everything else. To compile PGlite takes a quarter of a second on other threads; begun here, it is done while this
// one evaluates the rest of the program. Other commands do not need it at once, or not at all.

const [command = 'serve'] = process.argv.slice(2);
// The service does so once it listens.
if (command !== 'serve') usualCompilers();
if (command === 'serve' && usesEmbedded())
  // The one who needs it awaits the same promise and tells of the failure.
  loadPgliteAssets().catch(() => {});
