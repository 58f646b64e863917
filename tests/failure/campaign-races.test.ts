import { expect, test } from 'bun:test';
import { RACES, raceCampaigns } from './campaign-races.ts';

// The long form: bun tests/failure/campaign-races-long.ts

test('two who ask a campaign for different things at once come to what its drawing allows', async () => {
  const results = await raceCampaigns(2);
  expect(Object.keys(results)).toEqual(Object.keys(RACES));
  expect(Object.values(results).flatMap(({ forbidden }) => forbidden)).toEqual([]);
});
