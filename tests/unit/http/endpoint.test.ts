import { expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { endpointOf } from '../../../src/http/request/endpoint.ts';
import { forMembers, route } from '../../../src/http/request/route.ts';

test('a route with a separate limit has one for keys and members together, in both environments', () => {
  const preview = route('POST /v1/templates/render-preview', {
    permission: 'templates:read',
    summary: 'Preview',
    ipLimitPerMinute: 60,
    response: Type.Null(),
    status: 200,
    handle: () => null,
  });
  const limits = [preview, ...forMembers(preview)].map((each) => endpointOf(each).ownLimit);
  expect(limits).toHaveLength(3);
  expect(new Set(limits.map((limit) => limit?.name)).size).toBe(1);
  expect(limits[0]).toMatchObject({ perMinute: 60 });
});
