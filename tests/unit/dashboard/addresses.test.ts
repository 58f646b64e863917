import { describe, expect, test } from 'bun:test';
import { type Address, baseOf, readAddress } from '../../../src/web/dashboard/web/application/addresses.ts';

const none = { workspaceId: null, environment: null, rest: '' } as const;

describe('an address of the dashboard', () => {
  test.each<[string, Address]>([
    ['/app', none],
    ['/app/', none],
    ['/app/ws_1', { ...none, workspaceId: 'ws_1' }],
    ['/app/ws_1/live', { workspaceId: 'ws_1', environment: 'live', rest: '' }],
    ['/app/ws_1/live/', { workspaceId: 'ws_1', environment: 'live', rest: '' }],
    ['/app/ws_1/test/emails/em_1', { workspaceId: 'ws_1', environment: 'test', rest: '/emails/em_1' }],
    ['/app/live/emails', { workspaceId: null, environment: 'live', rest: '/emails' }],
    ['/app/test', { workspaceId: null, environment: 'test', rest: '' }],
    ['/app/lively', none],
    ['/app/ws_1/lively/emails', { ...none, workspaceId: 'ws_1' }],
    ['/app/setup', none],
    ['/inspector', none],
    ['/application/live', none],
  ])('%s is read', (path, address) => {
    expect(readAddress(path)).toEqual(address);
  });

  test.each(['/app/ws_1/live', '/app/ws_2/test', '/app/live'])('%s is written as it was read', (path) => {
    const { workspaceId, environment } = readAddress(path);
    expect(baseOf(workspaceId, environment ?? 'test')).toBe(path);
  });
});
