import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import { closed } from '../../src/http/request/schema.ts';
import { EMAIL_EVENTS } from '../../src/sending/emails/read/event-model.ts';
import { SIMULATED_OUTCOMES } from '../../src/sending/emails/simulator/simulated-addresses.ts';
import { eventually } from '../support/eventually.ts';
import { type RealService, startRealService } from './real-service.ts';

// The members of `data` of each event, as documented: for every outcome of the simulator.

let service: RealService;
let key: string;

beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('test', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

/** The last event of each fate, after which nothing more happens; null where there is none. */
const ENDS: Record<(typeof SIMULATED_OUTCOMES)[number], string | null> = {
  delivered: 'delivered',
  bounced: 'bounced',
  'bounced-transient': 'bounced',
  complained: 'complained',
  opened: 'opened',
  clicked: 'clicked',
  unsubscribed: 'unsubscribed',
  deferred: null,
  expired: null,
  suppressed: null,
};

const seen = new Set<string>();

test.each(SIMULATED_OUTCOMES.filter((name) => ENDS[name] !== null))(
  'all that happens to %s@ has the members that its type names, and no others',
  async (outcome) => {
    const to = `${outcome}@simulator.svc.test`;
    const body = { from: 'a@acme.example', to, subject: 'Hello', text: 'Hi' };
    const { id } = (await service.ask({ method: 'POST', path: '/v1/emails', key, body })).body.data;
    const events = await eventually(`the end of ${outcome}`, async () => {
      const { data } = (await service.ask({ path: `/v1/emails/${id}/events`, key })).body;
      return data.some(({ type }: { type: string }) => type === ENDS[outcome]) ? data : undefined;
    });
    for (const event of events as { type: keyof typeof EMAIL_EVENTS }[]) {
      const schema = closed(EMAIL_EVENTS[event.type]);
      expect([...Value.Errors(schema, event)].map(({ path, message }) => `${path} ${message}`)).toEqual([]);
      seen.add(event.type);
    }
  },
);

test('and so every type has been looked at', () => {
  expect([...seen].toSorted()).toEqual(Object.keys(EMAIL_EVENTS).toSorted());
});
