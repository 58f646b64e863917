import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lifeDiagram } from '../../src/web/docs/life-diagram.ts';

const ROOT = join(import.meta.dir, '../..');
const page = readFileSync(join(ROOT, 'src/web/docs/texts/what-happens-when.md'), 'utf8');

/** The tests that the page names, with their files. */
const named = [...page.matchAll(/^> `(.+?)` · (\S+)$/gm)].map(([, name = '', file = '']) => ({ name, file }));

test.each(named)('$file has the test "$name"', ({ name, file }) => {
  expect(existsSync(join(ROOT, file))).toBe(true);
  expect(readFileSync(join(ROOT, file), 'utf8')).toContain(`test('${name}'`);
});

test('every statement of the failure page has a test beneath it', () => {
  const sections = page.split(/^## /m).slice(1, -1);
  expect(sections.length).toBeGreaterThan(9);
  for (const section of sections) {
    const blocks = section.split('\n\n').slice(1);
    const last = blocks.filter((block) => block.trim() !== '').at(-1);
    expect(last?.startsWith('>')).toBe(true);
  }
});

test('the diagram of an email has a place for every state', () => {
  const drawn = lifeDiagram();
  for (const state of [
    'scheduled',
    'queued',
    'sending',
    'deferred',
    'sent',
    'delivered',
    'failed',
    'cancelled',
  ])
    expect(drawn).toContain(`>${state}</text>`);
  expect(drawn).not.toMatch(/style=|<script/);
});
