import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let key: string;
beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('test', ['contacts:read', 'contacts:write']);
});
afterAll(() => service?.[Symbol.asyncDispose]());

const send = async (path: string, body: unknown) =>
  (await service.ask({ method: 'POST', path, key, body })).status;
const known = async (by = key) => (await service.ask({ path: '/v1/contacts/properties', key: by })).body.data;

test('the properties of contacts are known by name, type and the most frequent values', async () => {
  expect(await known()).toEqual([]);
  const contact = (index: number) => ({
    email: `p${index}@example.com`,
    properties: {
      plan: index % 3 === 0 ? 'pro' : 'free',
      ...(index < 30 && { seats: index }),
      ...(index === 0 && { vip: true, mixed: '7', note: 'x'.repeat(101) }),
      ...(index === 1 && { mixed: 7, renewed: '2026-11-20', renewedAt: '2026-11-20T10:00:00Z' }),
    },
  });
  const contacts = Array.from({ length: 40 }, (_, index) => contact(index));
  expect(await send('/v1/contacts/batch', { contacts })).toBe(200);
  const all = await known();
  expect(all.map((each: { key: string }) => each.key)).toEqual([
    'plan',
    'seats',
    'mixed',
    'note',
    'renewed',
    'renewedAt',
    'vip',
  ]);
  const of = Object.fromEntries(all.map((each: { key: string }) => [each.key, each]));
  expect(of.plan).toEqual({ key: 'plan', types: ['string'], contacts: 40, values: ['free', 'pro'] });
  expect([of.seats.types, of.seats.values.length, of.seats.values[0]]).toEqual([['number'], 20, 0]);
  expect(of.mixed).toMatchObject({ types: ['number', 'string'], contacts: 2 });
  expect(of.note).toEqual({ key: 'note', types: ['string'], contacts: 1, values: [] });
  expect([of.renewed.types, of.renewedAt.types]).toEqual([['date'], ['date']]);
  expect(of.vip).toMatchObject({ types: ['boolean'], values: [true] });
});

test('they are those of one environment, for a key that may read contacts', async () => {
  expect(await known(await service.keyWith('live', ['contacts:read']))).toEqual([]);
  const told = await service.ask({
    path: '/v1/contacts/properties',
    key: await service.keyWith('test', ['emails:read']),
  });
  expect(told.status).toBe(403);
});
