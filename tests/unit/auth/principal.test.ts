import { describe, expect, test } from 'bun:test';
import { lacking } from '../../../src/http/auth/principal.ts';

describe('the refusal of a missing permission names the permission and the remedy of', () => {
  test('an API key, which can be changed', () => {
    const { message, extra } = lacking('emails:send', { kind: 'key' });
    expect(message).toBe('This API key lacks the permission emails:send.');
    expect(extra.suggestion).toContain('PATCH /v1/api-keys/{id}');
  });

  test('a member, who needs another role and has no key', () => {
    const { message, extra } = lacking('webhooks:write', { kind: 'member' });
    expect(message).toBe('Your role in this workspace lacks the permission webhooks:write.');
    expect(extra.suggestion).toContain('members:write');
    expect(`${message} ${extra.suggestion}`).not.toContain('key');
  });

  test("the operator's link, which can only be exchanged for a key", () => {
    const { message, extra } = lacking('domains:read', { kind: 'operatorLink' });
    expect(message).toBe('The link that you signed in with lacks the permission domains:read.');
    expect(extra.suggestion).toContain('an API key that holds domains:read');
    expect(extra.suggestion).not.toContain('PATCH');
  });
});
