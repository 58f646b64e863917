import { usesEmbedded } from '../../../platform/config/environment.ts';
import { compiledEngine } from '../../../platform/db/embedded/pglite-assets.ts';
import { beginAgain } from './begin-again.ts';
import { usualCompilers } from './usual-compilers.ts';

// Evaluated before everything else, so that what it imports must stay little. To compile PGlite takes 0.13 s
// on another thread; begun here, it is done by the time that this one has loaded the rest of the program.
// Other commands do not need it at once, or not at all.

const [command = 'serve'] = process.argv.slice(2);
if (command === 'serve') {
  beginAgain();
  // The user of the promise awaits it and reports the failure.
  if (usesEmbedded()) compiledEngine().catch(() => {});
} else usualCompilers(); // The service does so once it listens.
