import { expect, test } from 'bun:test';
import { isMediaType } from '../../../src/http/body/media-type.ts';
import { costMs } from '../../support/own-time.ts';

const TYPES = ['application/json'];

test.each([
  'application/json',
  'APPLICATION/JSON',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json ; charset="utf-8"',
  'application/json; profile="a; charset=latin1"',
  'application/json; version=1; charset=utf-8',
  'application/json;',
])('%p is JSON', (header) => expect(isMediaType(header, TYPES)).toBe(true));

test.each([
  '',
  'json',
  'text/json',
  'application/jsonp',
  'application/json5',
  'application/vnd.api+json',
  'application/problem+json',
  'application/json, application/json',
  'application/json, text/plain',
  'application/json; charset=latin1',
  'application/json; charset="utf-16"',
  'application/json; charset=utf-8; charset=latin1',
  'application/json; charset=',
  'application/json; charset',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  ' application/json/x',
  'application/json;;x',
])('%p is not', (header) => expect(isMediaType(header, TYPES)).toBe(false));

test('a content type that invites backtracking is judged in bounded time', () => {
  const header = `application/json${'; a=b'.repeat(3_000)};;=`;
  expect(costMs(() => expect(isMediaType(header, TYPES)).toBe(false))).toBeLessThan(100);
});
