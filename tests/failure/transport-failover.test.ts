import { expect, test } from 'bun:test';
import { failOver } from './transport-failover.ts';

const EMAILS = 320;

test('two relays die in turns, in every way: nothing is lost, and nothing is given to both', async () => {
  const { lost, twice, other, sent, inDoubt, takenBy, handedOver } = await failOver(EMAILS);
  expect({ lost, twice, other }).toEqual({ lost: [], twice: [], other: [] });
  expect(sent + inDoubt).toBe(EMAILS);
  expect(Math.min(...takenBy)).toBeGreaterThan(0);
  expect(handedOver).toBeGreaterThan(0);
}, 120_000);
