import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';

const WEB = join(import.meta.dir, '../../../src/web/dashboard/web');

// The theme begins without colours: Tailwind writes no rule for one that it does not have, and says nothing.
test('white and black, where a page asks for them, are colours of the theme', () => {
  const tokens = readFileSync(join(WEB, 'tokens.css'), 'utf8');
  const pages = [...new Glob('application/**/*.tsx').scanSync(WEB)];
  const used = pages.flatMap((page) => [
    ...readFileSync(join(WEB, page), 'utf8').matchAll(/\b(?:bg|text|border)-(white|black)\b/g),
  ]);
  const names = new Set(used.map(([, name]) => name));
  expect(names.size).toBeGreaterThan(0);
  for (const name of names) expect(tokens).toContain(`--color-${name}:`);
});
