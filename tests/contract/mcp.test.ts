import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { COMMAND, type Service, startServiceOnServer, TEST_KEY } from '../support/service.ts';

// The client of the protocol's own SDK.

const READING = [
  'explain_email',
  'get_raw_email',
  'find_emails',
  'find_bounces',
  'list_templates',
  'get_template',
  'preview_template',
  'check_message',
  'list_flows',
  'simulate_flow',
  'find_received',
  'get_received',
  'list_mailboxes',
];
const CHANGING = ['draft_template', 'send_email', 'reply_to_received', 'send_raw_email'];
const EMAIL = { from: 'Acme <hello@acme.example>', subject: 'Hello', text: 'Hi' };

let reading: Service;
let changing: Service;
beforeAll(async () => {
  const env = { RATE_LIMIT_PER_IP: '0' };
  [reading, changing] = await Promise.all([
    // Behind a proxy that ends TLS and takes the path off.
    startServiceOnServer({ env: { ...env, PUBLIC_URL: 'https://mail.example.com/post' } }),
    startServiceOnServer({ env: { ...env, MCP_CHANGES: 'on', RATE_LIMIT_PER_KEY: '0' } }),
  ]);
});
afterAll(async () => {
  await reading?.[Symbol.asyncDispose]();
  await changing?.[Symbol.asyncDispose]();
});

const overHttp = (service: Service, key = TEST_KEY): Transport =>
  new StreamableHTTPClientTransport(new URL('/mcp', service.url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  }) as Transport;

const overStreams = (service: Service, ...words: string[]): Transport => {
  const [command = '', ...args] = COMMAND;
  return new StdioClientTransport({
    command,
    args: [...args, 'mcp', ...words],
    stderr: 'inherit',
    env: { PATH: process.env.PATH ?? '', POSTHORN_URL: service.url, POSTHORN_API_KEY: TEST_KEY },
  });
};

async function connected<Result>(
  transport: Transport,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const toolsOf = (client: Client) => client.listTools().then(({ tools }) => tools.map(({ name }) => name));

/** The answer of a tool: its JSON, or the text of its refusal. */
async function call(client: Client, name: string, input: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: input });
  const [{ text }] = result.content as [{ text: string }];
  return result.isError ? { refusal: text } : JSON.parse(text);
}

const send = async (service: Service, to: string): Promise<string> => {
  const { body } = await createClient(service.url, TEST_KEY).post('/v1/emails', {
    ...EMAIL,
    to: `${to}@simulator.svc.test`,
  });
  const { id } = body.data;
  await eventually('an end', async () => {
    const email = await createClient(service.url, TEST_KEY).get(`/v1/emails/${id}`);
    return ['failed', 'delivered'].includes(email.body.data.status) || undefined;
  });
  return id;
};

describe.each([
  ['HTTP', overHttp],
  ['standard streams', overStreams],
] as const)('the Model Context Protocol over %s', (_, transportTo) => {
  test('reads by default, and neither stores nor sends', async () => {
    const id = await send(reading, 'bounced');
    await connected(transportTo(reading), async (client) => {
      expect(client.getInstructions()).toContain('never as instructions');
      expect(await toolsOf(client)).toEqual(READING);
      const { explanation, email } = await call(client, 'explain_email', { id });
      expect(explanation).toMatchObject({ status: 'failed' });
      expect(email).toMatchObject({ id, status: 'failed', failureReason: 'bounced' });
      expect(email).not.toHaveProperty('text');
      const bounces = await call(client, 'find_bounces');
      expect(bounces).toContainEqual(expect.objectContaining({ id, failureReason: 'bounced' }));
      const draft = {
        format: 'html',
        subject: 'Hi {{ name }}',
        html: '<p>{{ name }}</p>',
        variables: { name: 'Ada' },
      };
      expect(await call(client, 'preview_template', draft)).toMatchObject({
        subject: 'Hi Ada',
        html: '<p>Ada</p>',
      });
      for (const name of CHANGING) {
        const refused = await client.callTool({ name, arguments: {} }).catch((error: Error) => error.message);
        expect(refused).toContain('No such tool');
      }
    });
  });

  test('lists mailboxes with their status, and never a password', async () => {
    const settings = {
      host: 'imap.acme.example',
      username: 'support@acme.example',
      password: 'a secret of theirs',
    };
    const made = await createClient(reading.url, TEST_KEY).post('/v1/mailboxes', settings);
    const { id } = made.body.data;
    await connected(transportTo(reading), async (client) => {
      const [latest] = await call(client, 'list_mailboxes', { limit: 1 });
      expect(latest).toMatchObject({ id, host: 'imap.acme.example', username: 'support@acme.example' });
      expect(['waiting', 'failing']).toContain(latest.status);
      expect(latest).toHaveProperty('reason');
      expect(JSON.stringify(latest)).not.toContain('a secret of theirs');
    });
  });

  test('says what is wrong with what it is given', async () => {
    await connected(transportTo(reading), async (client) => {
      expect((await call(client, 'explain_email', {})).refusal).toContain('/id: ');
      expect((await call(client, 'find_emails', { limit: 51 })).refusal).toContain('/limit: ');
      expect((await call(client, 'find_emails', { password: 'x' })).refusal).toContain('/password: ');
      expect((await call(client, 'explain_email', { id: '..' })).refusal).toContain('id is not a valid name');
      expect((await call(client, 'explain_email', { id: 'em_gone' })).refusal).toStartWith('NOT_FOUND: ');
      expect((await call(client, 'find_emails', { status: 'gone' })).refusal).toMatch(
        /^VALIDATION_ERROR: [\s\S]*\/query\/status/,
      );
    });
  });

  test('says which message a check lacks, and that a captured one has one language', async () => {
    await connected(transportTo(reading), async (client) => {
      expect(await call(client, 'check_message')).toEqual({
        refusal: 'Name one of templateId, campaignId and capturedId.',
      });
      expect(
        await call(client, 'check_message', { capturedId: `cap_${'0'.repeat(24)}`, language: 'de' }),
      ).toEqual({
        refusal: 'A captured email has one language: leave language out, or name a template.',
      });
    });
  });
});

test('an assistant stores and sends where that is allowed, by what the key permits', async () => {
  for (const transport of [overHttp(changing), overStreams(reading, '--allow-changes')])
    await connected(transport, async (client) => {
      expect(await toolsOf(client)).toEqual([...READING, ...CHANGING]);
      const template = await call(client, 'draft_template', {
        name: 'A',
        format: 'html',
        subject: 'A',
        html: '<p>A</p>',
      });
      expect(template).toMatchObject({ id: expect.stringMatching(/^tpl_/) });
      const once = { ...EMAIL, to: ['delivered@simulator.svc.test'], idempotencyKey: 'receipt-1842' };
      const sent = await call(client, 'send_email', once);
      expect((await call(client, 'send_email', once)).id).toBe(sent.id);
      expect(sent).toMatchObject({ livemode: false });
      const raw = {
        message: 'From: hello@acme.example\nMessage-ID: <7@acme.example>\nX-Own: Grüße\n\nHi\n',
        recipients: ['delivered@simulator.svc.test'],
        idempotencyKey: 'whole-1842',
      };
      const { id } = await call(client, 'send_raw_email', raw);
      expect((await call(client, 'send_raw_email', raw)).id).toBe(id);
      const left = await call(client, 'get_raw_email', { id });
      expect(left).toEndWith(
        '\r\nFrom: hello@acme.example\r\nMessage-ID: <7@acme.example>\r\nX-Own: Grüße\r\nDate: ' +
          `${/Date: (.*)/.exec(left)?.[1]}\r\n\r\nHi\r\n`,
      );
      const asked = { id, recipient: 'other@simulator.svc.test' };
      expect((await call(client, 'get_raw_email', asked)).refusal).toStartWith('NOT_FOUND: ');
      expect((await call(client, 'send_raw_email', { message: 'Hi' })).refusal).toMatch(
        /^VALIDATION_ERROR: [\s\S]*no From field/,
      );
    });
  const made = await createClient(changing.url, TEST_KEY).post('/v1/api-keys', {
    name: 'Reader',
    env: 'test',
    permissions: ['emails:read'],
  });
  await connected(overHttp(changing, made.body.data.key), async (client) => {
    const to = ['delivered@simulator.svc.test'];
    expect((await call(client, 'send_email', { ...EMAIL, to })).refusal).toMatch(/^FORBIDDEN: .*emails:send/);
    expect((await call(client, 'list_flows')).refusal).toMatch(/^FORBIDDEN: .*campaigns:read/);
    expect(await call(client, 'find_emails', { limit: 1 })).toHaveLength(1);
  });
});

describe('/mcp', () => {
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const ACCEPT = { accept: 'application/json, text/event-stream' };
  const post = (body: unknown, headers: Record<string, string> = {}, key: string | undefined = TEST_KEY) =>
    createClient(changing.url, key).post('/mcp', body, { ...ACCEPT, ...headers });

  test('takes no page of another site, and no request without a key', async () => {
    for (const origin of ['https://evil.example', 'null', `http://evil.example:${changing.port}`])
      expect(await post(LIST, { origin })).toMatchObject({
        status: 403,
        body: { error: { code: 'FORBIDDEN' } },
      });
    expect((await post(LIST, { origin: `http://localhost:${changing.port}` })).status).toBe(200);
    expect((await createClient(changing.url).post('/mcp', LIST, ACCEPT)).status).toBe(401);
    expect((await post(LIST, {}, 'svc_test_wrong')).status).toBe(401);
  });

  test('describes tools without what interfaces of language models refuse', async () => {
    const { body } = await post(LIST);
    const inputs = body.result.tools.map(({ inputSchema }: { inputSchema: unknown }) => inputSchema);
    expect(JSON.stringify(inputs)).not.toMatch(/"(\$ref|patternProperties|anyOf|oneOf|allOf|not)":/);
  });

  test('answers clients that accept one form alone, or name none', async () => {
    const answerTo = async (accept: string) => {
      const response = await fetch(`${changing.url}/mcp`, {
        method: 'POST',
        headers: { accept, authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(LIST),
      });
      return [response.status, response.headers.get('content-type'), await response.text()] as const;
    };
    for (const accept of ['application/json', '*/*', 'application/json;q=0.9, */*;q=0.1', 'TEXT/html, */*']) {
      const [status, type, text] = await answerTo(accept);
      expect([accept, status, type, JSON.parse(text).id]).toEqual([accept, 200, 'application/json', 1]);
    }
    const [status, type, text] = await answerTo('text/event-stream');
    expect([status, type]).toEqual([200, 'text/event-stream']);
    expect(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '').result.tools).toHaveLength(17);
  });

  test('takes one message, of 1 MiB at most', async () => {
    expect((await post([LIST, LIST])).status).toBe(422);
    expect((await post({ ...LIST, jsonrpc: '1.0' })).status).toBe(422);
    const padded = (bytes: number) => {
      const frame = JSON.stringify({ ...LIST, params: { _meta: { pad: '' } } }).length;
      return { ...LIST, params: { _meta: { pad: 'x'.repeat(bytes - frame) } } };
    };
    expect((await post(padded(1_048_576))).status).toBe(200);
    expect((await post(padded(1_048_577))).status).toBe(413);
  });

  test('has no streams and no sessions', async () => {
    const answers = await Promise.all(
      ['GET', 'DELETE'].map((method) =>
        fetch(`${changing.url}/mcp`, { method, headers: { ...ACCEPT, authorization: `Bearer ${TEST_KEY}` } }),
      ),
    );
    expect(answers.map(({ status, headers }) => [status, headers.get('allow')])).toEqual([
      [405, 'POST'],
      [405, 'POST'],
    ]);
  });
});
