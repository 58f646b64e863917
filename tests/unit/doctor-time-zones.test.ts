import { expect, test } from 'bun:test';
import { diagnoseTimeZones } from '../../src/ops/doctor/machine.ts';

const OWN = { release: '2026f', source: 'executable' as const };

test.each([
  [{ ...OWN, systemRelease: '2026b' }, null, 'fine', 'in this executable; this machine has 2026b.'],
  [{ ...OWN, systemRelease: null }, '2026f', 'fine', 'the release of this machine is unknown.'],
  [
    { release: '2027a', source: 'system' as const, systemRelease: '2027a' },
    '2027a',
    'fine',
    'Release 2027a of the IANA database, from /usr/share/zoneinfo, which is newer than that of this executable.',
  ],
  // The machine was updated since the service started.
  [
    { release: '2027a', source: 'system' as const, systemRelease: '2027a' },
    '2026f',
    'warning',
    'The running service goes by 2026f.',
  ],
  // The doctor of an older executable has nothing to say against the service.
  [{ ...OWN, systemRelease: null }, '2027a', 'fine', 'Release 2026f'],
] as const)('%j while the service goes by %s: %s', (zones, running, status, words) => {
  const diagnosis = diagnoseTimeZones(zones, running);
  expect([diagnosis.status, diagnosis.advice]).toEqual([
    status,
    status === 'fine' ? null : 'Restart the service.',
  ]);
  expect(diagnosis.detail).toContain(words);
});
