import { expect, test } from 'bun:test';
import { isProblem, parseAddress } from '../../src/platform/text/address.ts';
import {
  SIMULATED_OUTCOMES,
  simulatedOutcome,
} from '../../src/sending/emails/simulator/simulated-addresses.ts';

const DOMAIN = 'simulator.svc.test';

const outcomeOf = (text: string) => {
  const address = parseAddress(text);
  if (isProblem(address)) throw new Error(address.problem);
  return simulatedOutcome(address, DOMAIN);
};

test('the local part of a simulator address chooses the outcome', () => {
  expect(SIMULATED_OUTCOMES.map((name) => outcomeOf(`${name}@${DOMAIN}`))).toEqual([...SIMULATED_OUTCOMES]);
});

test.each([
  ['bounced+order-1842@simulator.svc.test', 'bounced'],
  ['bounced-transient+a+b@simulator.svc.test', 'bounced-transient'],
  ['opened+@simulator.svc.test', 'opened'],
  ['BOUNCED@Simulator.SVC.Test', 'bounced'],
  ['Bo <complained+x@simulator.svc.test>', 'complained'],
  ['bounced@example.com', 'delivered'],
  ['bounced@mail.simulator.svc.test', 'delivered'],
  ['bounced@xsimulator.svc.test', 'delivered'],
])('%s is %s', (text, outcome) => {
  expect(outcomeOf(text)).toBe(outcome as never);
});

test.each([
  'nobody',
  'bounce',
  '+bounced',
  'constructor',
  '__proto__',
  'bounced.transient',
  'bounced_transient',
])('the simulator has no %s', (local) => {
  expect(outcomeOf(`${local}@${DOMAIN}`)).toBeNull();
});
