import { beforeEach, expect, test } from 'bun:test';
import {
  Circuit,
  FAILURES_TO_OPEN,
  FIRST_REST_MS,
  LONGEST_REST_MS,
} from '../../../src/platform/async/circuit.ts';

let now = 0;
let circuit: Circuit;
beforeEach(() => {
  now = 0;
  circuit = new Circuit(() => now);
});
const fail = (times: number) => {
  for (let each = 0; each < times; each++) circuit.failed('ordinary');
};

test('opens at the third failure in a row, not at the second, and a success in between restarts the count', () => {
  fail(FAILURES_TO_OPEN - 1);
  expect(circuit.state).toBe('closed');
  circuit.worked();
  fail(FAILURES_TO_OPEN - 1);
  expect(circuit.admit()).toBe('ordinary');
  fail(1);
  expect(circuit.state).toBe('open');
  expect(circuit.admit()).toBeNull();
});

test('gives leave to one trial after the rest, not a moment before it', () => {
  fail(FAILURES_TO_OPEN);
  now = FIRST_REST_MS - 1;
  expect(circuit.admit()).toBeNull();
  expect([circuit.state, circuit.restMs]).toEqual(['open', 1]);
  now = FIRST_REST_MS;
  expect([circuit.state, circuit.restMs]).toEqual(['rested', 0]);
  expect(circuit.admit()).toBe('trial');
  expect(circuit.state).toBe('halfOpen');
  expect(circuit.admit()).toBeNull();
  circuit.worked();
  expect(circuit.admit()).toBe('ordinary');
});

test('a failed trial doubles the rest up to the longest; failures from before the rest change nothing', () => {
  fail(FAILURES_TO_OPEN);
  let rest = FIRST_REST_MS;
  for (let each = 0; each < 6; each++) {
    now += rest - 1;
    fail(10);
    expect(circuit.admit()).toBeNull();
    now += 1;
    expect(circuit.admit()).toBe('trial');
    circuit.failed('trial');
    rest = Math.min(2 * rest, LONGEST_REST_MS);
  }
  expect(rest).toBe(LONGEST_REST_MS);
});

test('a trial that learned nothing leaves room for the next one', () => {
  fail(FAILURES_TO_OPEN);
  now = FIRST_REST_MS;
  expect(circuit.admit()).toBe('trial');
  circuit.abandoned('trial');
  expect(circuit.admit()).toBe('trial');
});
