import { expect, test } from 'bun:test';
import { redacted } from '../../../src/web/live/redact.ts';

test('the live view redacts secrets and personal data from snapshots', () => {
  const context = {
    attempt: 2,
    open: true,
    nothing: null,
    url: 'https://user:pw@hooks.example.com/in/9f3c?token=abc',
    bare: 'http://hooks.example.com',
    note: 'refused <ada@example.com> and bob@xn--bcher-kva.example',
    sealed: 'sealed:1:…',
    signingSecret: 'whsec_1',
    recipients: [{ status: 'sent', address: 'ada@example.com', passwordHash: 'x' }],
  };
  expect(redacted(context)).toEqual({
    attempt: 2,
    open: true,
    nothing: null,
    url: 'https://hooks.example.com/…',
    bare: 'http://hooks.example.com/…',
    note: 'refused <…@…> and …@…',
    recipients: [{ status: 'sent', address: '…@…' }],
  });
});
