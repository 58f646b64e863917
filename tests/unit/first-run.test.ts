import { describe, expect, test } from 'bun:test';
import type { FirstKey } from '../../src/accounts/api-keys/issue.ts';
import { firstRunText } from '../../src/ops/commands/serving/first-run.ts';

const where = {
  publicUrl: 'http://localhost:3000',
  simulatorDomain: 'simulator.svc.test',
  transport: ['capture'] as const,
};
const keyOf = (livemode: boolean, key: string | null): FirstKey => ({
  livemode,
  origin: key === null ? 'given' : 'generated',
  key,
  ignored: false,
});

describe('the welcome of the first start', () => {
  const text = firstRunText(where, [keyOf(true, 'svc_live_AAA'), keyOf(false, 'svc_test_BBB')]);

  test('shows both generated keys', () => {
    expect(text).toContain('live  svc_live_AAA');
    expect(text).toContain('test  svc_test_BBB');
  });

  test('has a curl line with the test key and a body that is JSON', () => {
    expect(text).toContain("-H 'authorization: Bearer svc_test_BBB'");
    const body = /-d '(.+)'/.exec(text)?.[1] ?? '';
    expect(JSON.parse(body).to).toBe('delivered@simulator.svc.test');
  });

  test('says where to look next', () => {
    expect(text).toContain('http://localhost:3000/docs');
  });

  test('says that live mail stays here, and how it would leave', () => {
    expect(text).toContain('http://localhost:3000/v1/captured');
    expect(text).toContain('set TRANSPORT to smtp, direct or ses');
    expect(firstRunText({ ...where, transport: ['smtp'] }, [])).not.toContain('captured');
  });

  test('repeats no key that the operator gave', () => {
    const quiet = firstRunText(where, [keyOf(true, null), keyOf(false, null)]);
    expect(quiet).not.toMatch(/svc_(live|test)_/);
    expect(quiet).toContain('Bearer <your test key>');
  });
});
