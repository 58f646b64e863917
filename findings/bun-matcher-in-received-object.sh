#!/bin/sh
# bun 1.4.5 (npm), its test runner.
#
# Guess: an assertion reads the received object and leaves it as it is.
# Seen:  after `expect(got).toMatchObject({ at: expect.stringMatching(/Z$/) })` has passed, `got.at` is the matcher and no longer the
#        text. Whatever a test does with the value afterwards, such as sending it back, it does with an object.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund bun@1.4.5
cat > see.test.ts <<'TS'
import { expect, test } from 'bun:test';
test('the received object', () => {
  const got = { id: 1, at: '2026-01-01T00:00:00Z' };
  expect(got).toMatchObject({ at: expect.stringMatching(/Z$/) });
  console.log(`at is of type ${typeof got.at}; id is of type ${typeof got.id}`);
});
TS
npx bun test see.test.ts 2>&1 | tee seen
grep -qx 'at is of type object; id is of type number' seen
echo 'As expected.'
