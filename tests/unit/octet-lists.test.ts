import { describe, expect, test } from 'bun:test';
import { MOST_VALUES } from '../../src/http/body/json-text.ts';
import { octetsInBase64 } from '../../src/sending/resend/octet-lists.ts';

const rewritten = (json: string): string | undefined => {
  const octets = octetsInBase64(Buffer.from(json));
  return octets === null ? undefined : Buffer.from(octets).toString();
};

describe('a file that is a list of octets', () => {
  test('becomes base64 in an email and in a batch, in each form of writing', () => {
    const email = '{"to":["a"],"attachments":[{"filename":"a]","content":"AQL/"},{"content":"AA=="}]}';
    for (const list of ['[1,2,255]', '[ 1, 2, 255 ]', '[\n1,\r\n\t2,\n255\n]'])
      for (const name of ['"content":', '"content" : ']) {
        const listed = `{"to":["a"],"attachments":[{"filename":"a]",${name}${list}},{"content":[0]}]}`;
        expect(JSON.parse(rewritten(listed) ?? '')).toEqual(JSON.parse(email));
        expect(JSON.parse(rewritten(`[${listed},${listed}]`) ?? '')).toEqual([
          JSON.parse(email),
          JSON.parse(email),
        ]);
      }
    const buffer = JSON.stringify({
      attachments: [{ content: Buffer.from('ü"') }, { content: Buffer.alloc(0) }],
    });
    expect(rewritten(buffer)).toBe(
      '{"attachments":[{"content":{"type":"Buffer","data":"w7wi"}},{"content":{"type":"Buffer","data":""}}]}',
    );
    expect(rewritten(`[${buffer}]`)).toContain('"data":"w7wi"');
  });

  test('is nothing else', () => {
    for (const json of [
      '{"attachments":[{"content":[1,256]}]}',
      '{"attachments":[{"content":[1,-1]}]}',
      '{"attachments":[{"content":[1.5]}]}',
      '{"attachments":[{"content":[01]}]}',
      '{"attachments":[{"content":[1,]}]}',
      '{"attachments":[{"content":[1 2]}]}',
      '{"attachments":[{"content":[1',
      '{"attachments":[{"content":["1"]}]}',
      '{"attachments":[{"filename":[1]}]}',
      '{"attachments":[{"content":{"content":[1]}}]}',
      '{"template":{"variables":{"content":[1],"data":[1]}}}',
      '{"template":{"variables":{"attachments":[{"content":[1]}]}}}',
      '[{"attachments":[{"content":{"any":{"data":[1]}}}]}]',
      '{"content":[1],"data":[1]}',
      '[{"content":[1]}]',
      '{"text":"{\\"attachments\\":[{\\"content\\":[1]}]}"}',
      '',
    ])
      expect([json, rewritten(json)]).toEqual([json, json]);
  });

  test('is not counted number by number, and everything else is', () => {
    const file = `{"attachments":[{"content":[1${',1'.repeat(300_000)}]}]}`;
    expect(rewritten(file)?.length).toBe(400_036);
    // The brackets of the list around them and of the file are five more.
    const beside = (values: number) => `[${'0,'.repeat(values)}${file}]`;
    expect(rewritten(beside(MOST_VALUES - 5))?.length).toBe(2 * (MOST_VALUES - 5) + 400_038);
    expect(rewritten(beside(MOST_VALUES - 4))).toBeUndefined();
    expect(rewritten(`{"content":[1${',1'.repeat(MOST_VALUES)}]}`)).toBeUndefined();
    expect(rewritten('['.repeat(MOST_VALUES + 1))).toBeUndefined();
  });

  test('is found behind what is nested deeper', () => {
    const file = '{"attachments":[{"content":[1]}]}';
    const deep = '['.repeat(40) + ']'.repeat(40);
    expect(rewritten(`[${deep},${file}]`)).toBe(`[${deep},{"attachments":[{"content":"AQ=="}]}]`);
  });
});
