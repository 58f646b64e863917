import { spawnSync } from 'node:child_process';
import { newestVersion, pinnedVersion, ZONES_PACKAGE } from './release/zones-package.ts';

// Takes the newest rules of time zones that the registry has:
//   bun scripts/zones.ts
// Then run tests/unit/zones.test.ts, which names the zones whose rules have changed, and say in CHANGELOG.md
// which release came with it.

const newest = newestVersion();
if (newest === null) {
  console.error('The registry does not answer: try again once it is reachable.');
  process.exitCode = 1;
} else if (newest === pinnedVersion) console.log(`${ZONES_PACKAGE} ${pinnedVersion} is the newest.`);
else {
  const added = spawnSync(process.execPath, ['add', '--exact', `${ZONES_PACKAGE}@${newest}`], {
    stdio: 'inherit',
  });
  process.exitCode = added.status ?? 1;
}
