import { describe, expect, test } from 'bun:test';
import { answeredSubject, threadFields } from '../../../src/sending/received/answer.ts';
import { costMs } from '../../support/own-time.ts';

describe('the subject of an answer', () => {
  test.each([
    ['News', 'Re: News'],
    ['Re: News', 'Re: News'],
    ['RE:re :  Re: News', 'Re: News'],
    ['Regarding: News', 'Re: Regarding: News'],
    ['', 'Re:'],
    [null, 'Re:'],
  ])('%j becomes %j', (subject, answered) => expect(answeredSubject(subject)).toBe(answered));

  test('has at most 998 characters', () => {
    expect(answeredSubject('x'.repeat(998))).toHaveLength(998);
    expect(answeredSubject(`${'x'.repeat(993)}😀`).isWellFormed()).toBe(true);
  });

  test('of many prefixes costs little', () => {
    expect(costMs(() => answeredSubject(' re : '.repeat(166)))).toBeLessThan(50);
  });
});

const fieldsOf = (messageId: string | null, references: readonly string[], inReplyTo: string | null = null) =>
  threadFields({ summary: { messageId, inReplyTo } as never }, { references });

describe('the fields of a thread', () => {
  test('name the message, and those before it', () => {
    expect(fieldsOf('<b@x.example>', ['<a@x.example>'])).toEqual({
      'In-Reply-To': '<b@x.example>',
      References: '<a@x.example> <b@x.example>',
    });
    expect(fieldsOf('<b@x.example>', [], '<a@x.example>').References).toBe('<a@x.example> <b@x.example>');
    expect(fieldsOf('<b@x.example>', ['<b@x.example>']).References).toBe('<b@x.example>');
  });

  test('keep the first message of a long thread, and the nearest, within 4,096 octets', () => {
    const ids = Array.from({ length: 100 }, (_, n) => `<${String(n).padStart(80, '0')}@x.example>`);
    const { References = '' } = fieldsOf('<last@x.example>', ids);
    const named = References.split(' ');
    expect(References.length).toBeLessThanOrEqual(4_096);
    expect([named[0], named.at(-1), named.at(-2)]).toEqual([ids[0], '<last@x.example>', ids[99]]);
    expect(named.length).toBeGreaterThan(30);
  });

  test('are left out where the message has no usable Message-ID', () => {
    expect(fieldsOf(null, ['<a@x.example>'])).toEqual({});
    expect(fieldsOf('<ä@x.example>', [])).toEqual({});
    expect(fieldsOf('<b@x.example>', ['<ü@x.example>']).References).toBe('<b@x.example>');
    // No line of a field can be folded inside it.
    expect(fieldsOf(`<${'a'.repeat(897)}>`, [])).toEqual({});
  });
});
