import { describe, expect, test } from 'bun:test';
import {
  domainOf,
  isCounted,
  type Tracking,
  trackingOf,
  trackingOfCampaign,
} from '../../../src/web/dashboard/web/application/pages/tracking.ts';

const domain = (name: string, openTracking: boolean, clickTracking: boolean) => ({
  name,
  openTracking,
  clickTracking,
});

describe('a number of opens or clicks', () => {
  test.each<[string, Tracking, number, boolean]>([
    ['a 0 without tracking is not a number', { opened: false, clicked: true }, 0, false],
    ['a 0 with tracking is', { opened: true, clicked: false }, 0, true],
    ['what was counted before tracking went off is shown', { opened: false, clicked: false }, 3, true],
    ['a viewer who may not read the domains sees the number', null, 0, true],
  ])('%s', (_, tracking, counted, shown) => {
    expect(isCounted(tracking, 'opened', counted)).toBe(shown);
  });

  test('is counted where one of the domains tracks it', () => {
    expect(trackingOf([])).toBeNull();
    expect(trackingOf([domain('a.example', false, false), domain('b.example', false, true)])).toEqual({
      opened: false,
      clicked: true,
    });
  });

  test.each<[string, Parameters<typeof trackingOfCampaign>, Tracking]>([
    [
      'of a campaign follows the domain of its sender',
      [
        { from: 'News <news@B.example>', trackOpens: null, trackClicks: null },
        [domain('a.example', true, true), domain('b.example', false, true)],
      ],
      { opened: false, clicked: true },
    ],
    [
      'of a campaign follows its own setting first',
      [{ from: 'news@b.example', trackOpens: true, trackClicks: false }, [domain('b.example', false, true)]],
      { opened: true, clicked: false },
    ],
    [
      'of a campaign needs no domain where both are set',
      [{ from: null, trackOpens: false, trackClicks: false }, []],
      { opened: false, clicked: false },
    ],
    [
      'of a campaign is unknown without the domain',
      [{ from: 'news@gone.example', trackOpens: null, trackClicks: true }, [domain('b.example', true, true)]],
      null,
    ],
    [
      'of a campaign with the default sender follows all domains',
      [{ from: null, trackOpens: null, trackClicks: null }, [domain('b.example', true, false)]],
      { opened: true, clicked: false },
    ],
  ])('%s', (_, given, tracking) => {
    expect(trackingOfCampaign(...given)).toEqual(tracking);
  });

  test.each([
    ['news@acme.example', 'acme.example'],
    ['"A, B" <News@ACME.example>', 'acme.example'],
    ['nothing', ''],
  ])('%s is of the domain %s', (sender, name) => {
    expect(domainOf(sender)).toBe(name);
  });
});
