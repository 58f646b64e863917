import { expect, test } from 'bun:test';
import { returnPathFor, tokenOf } from '../../../src/mail/inbound/verp.ts';

test('a VERP token survives a change of case', () => {
  const path = returnPathFor('em_06fqk3d5vg8x2m7c1pzt4nwy.0a1b2c3d', 'bounces.sender.example');
  expect(path).toBe('b+em_06fqk3d5vg8x2m7c1pzt4nwy.0a1b2c3d@bounces.sender.example');
  expect(tokenOf(path)).toBe('em_06fqk3d5vg8x2m7c1pzt4nwy.0a1b2c3d');
  expect(tokenOf(path.toUpperCase())).toBe('em_06fqk3d5vg8x2m7c1pzt4nwy.0a1b2c3d');
});

test('a VERP token that would not survive is refused', () => {
  for (const token of ['', 'A', 'a@b', 'a b', 'x'.repeat(63)])
    expect(() => returnPathFor(token, 'x.example')).toThrow(RangeError);
});

test('an address of another form holds no VERP token', () => {
  for (const address of ['', 'bob@x.example', 'b+@x.example', 'bb+a@x.example', 'b+a+b@x.example', 'b+a'])
    expect(tokenOf(address)).toBeNull();
});
