import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CONTACT_FIELD_NAMES,
  CONTACT_FIELDS,
  type ContactFieldName,
  eachField,
  wholeName,
} from '../../src/platform/text/contact-fields.ts';
import { pathsOf } from './ask.ts';
import { type ImportClient, importClient } from './import-client.ts';
import { type RealService, startRealService } from './real-service.ts';

// The fields come from the list, so that a field which is added to it is tested in every place.

const TEXTS = eachField((name) => `Zz ${name}`);

describe('each field of a contact', () => {
  let service: RealService;
  let key: string;
  let files: ImportClient;
  let contact: { readonly id: string; readonly email: string };

  const send = (method: string, path: string, body?: unknown) =>
    service.ask({ method, path, key, ...(body !== undefined && { body }) });
  const done = async (method: string, path: string, body?: unknown) => {
    const told = await send(method, path, body);
    if (told.status > 299) throw new Error(told.text);
    return told.body?.data;
  };

  beforeAll(async () => {
    service = await startRealService();
    key = await service.keyWith('live', ['*']);
    files = importClient(service, key);
    contact = await done('POST', '/v1/contacts', { email: 'all@fields.example', ...TEXTS });
    await done('POST', '/v1/contacts', { email: 'none@fields.example' });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('is answered in the order of the list, and is null when unknown', async () => {
    const names = Object.keys(contact).slice(Object.keys(contact).indexOf('email') + 1);
    expect(names.slice(0, CONTACT_FIELD_NAMES.length)).toEqual([...CONTACT_FIELD_NAMES]);
    expect(await done('GET', `/v1/contacts/${contact.id}`)).toMatchObject(TEXTS);
    expect(await done('GET', '/v1/contacts/none@fields.example')).toMatchObject(eachField(() => null));
  });

  test.each(CONTACT_FIELD_NAMES)('%s alone is changed and removed', async (name) => {
    const path = '/v1/contacts/one@fields.example';
    await done('POST', '/v1/contacts?upsert=true', { email: 'one@fields.example', ...TEXTS });
    expect(await done('PATCH', path, { [name]: 'New' })).toMatchObject({ ...TEXTS, [name]: 'New' });
    expect(await done('PATCH', path, { [name]: null })).toMatchObject({ ...TEXTS, [name]: null });
    const batch = { contacts: [{ email: 'one@fields.example', [name]: 'Batch' }] };
    await done('POST', '/v1/contacts/batch', batch);
    expect(await done('GET', path)).toMatchObject({ ...TEXTS, [name]: 'Batch' });
    expect(pathsOf(await send('PATCH', path, { [name]: 'x'.repeat(201) }))).toEqual([`/body/${name}`]);
  });

  test.each(CONTACT_FIELD_NAMES)(
    '%s is found by its beginning, with and without the others',
    async (name) => {
      const only = { email: `only-${name}@fields.example`.toLowerCase(), [name]: `Sought ${name}` };
      const beside = {
        email: `beside-${name}@fields.example`.toLowerCase(),
        ...TEXTS,
        [name]: `Sought ${name} as well`,
      };
      for (const each of [only, beside]) await done('POST', '/v1/contacts', each);
      const found = await done('GET', `/v1/contacts?search=${encodeURIComponent(`SOUGHT ${name}`)}`);
      expect(found.map(({ email }: { email: string }) => email)).toEqual([beside.email, only.email]);
    },
  );

  test.each(CONTACT_FIELD_NAMES)('%s is a filter', async (name) => {
    const filter = { field: name, operator: 'eq', value: `Filtered ${name}` };
    const body = { email: `filter-${name}@fields.example`.toLowerCase(), [name]: filter.value };
    await done('POST', '/v1/contacts', body);
    const { sample } = await done('POST', '/v1/audiences/preview', { filter });
    expect(sample).toMatchObject([body]);
  });

  test('is exported, and comes back from the file', async () => {
    const { text } = await send('GET', '/v1/contacts/export');
    const [header = '', ...rows] = text.replace('\ufeff', '').trimEnd().split('\r\n');
    const columns = CONTACT_FIELD_NAMES.map((name) => CONTACT_FIELDS[name].column);
    expect(header.split(',').slice(0, 3 + columns.length)).toEqual(['id', 'email', ...columns, 'status']);
    const row = rows.find((each) => each.includes(contact.email)) ?? '';
    await done('DELETE', `/v1/contacts/${contact.id}`);
    await files.imported(`${header}\r\n${row}\r\n`);
    contact = await files.contact(contact.email);
    expect(contact).toMatchObject(TEXTS);
  });

  const headers = (name: ContactFieldName): readonly string[] => [
    name,
    CONTACT_FIELDS[name].column,
    CONTACT_FIELDS[name].label,
    ...CONTACT_FIELDS[name].headers.split(/\s+/),
  ];
  test.each(CONTACT_FIELD_NAMES)('%s is recognised by its headers, and stated in columns', async (name) => {
    const { column } = CONTACT_FIELDS[name];
    const planned = async (header: string, query = '') => {
      const body = `email,${header}\nplan@fields.example,x\n`;
      const path = `/v1/contacts/import/plan${query}`;
      const told = await service.ask({
        method: 'POST',
        path,
        key,
        body,
        headers: { 'content-type': 'text/csv' },
      });
      return told.body.data.columns[1].target;
    };
    for (const header of headers(name)) expect([header, await planned(header)]).toEqual([header, column]);
    for (const stated of [name, column]) {
      const columns = encodeURIComponent(JSON.stringify({ Other: stated }));
      expect(await planned('Other', `?columns=${columns}`)).toBe(column);
    }
  });

  test('is a variable of campaigns', async () => {
    const { id: audienceId } = await done('POST', '/v1/audiences', { name: 'All fields' });
    const subject = CONTACT_FIELD_NAMES.map((name) => `{{ contact.${name} }}`).join('|');
    const campaign = { name: 'Fields', audienceId, subject, from: 'a@sender.example', html: '<p>x</p>' };
    const { id } = await done('POST', '/v1/campaigns', campaign);
    const shown = await done('GET', `/v1/campaigns/${id}/preview?contactId=${contact.id}`);
    expect(shown.subject).toBe(Object.values(TEXTS).join('|'));
  });

  test('is set by a step of a flow', async () => {
    const filter = {
      and: CONTACT_FIELD_NAMES.map((field) => ({ field, operator: 'eq', value: TEXTS[field] })),
    };
    const { id } = await done('POST', '/v1/flows', {
      name: 'Fields',
      trigger: { type: 'manual' },
      steps: [
        { key: 'set', type: 'updateContact', config: TEXTS },
        { key: 'ask', type: 'condition', config: { filter } },
        { key: 'yes', type: 'exit', config: {} },
        { key: 'no', type: 'exit', config: {} },
      ],
      edges: [
        { from: 'set', to: 'ask' },
        { from: 'ask', to: 'yes', when: 'met' },
        { from: 'ask', to: 'no', when: 'notMet' },
      ],
    });
    const simulated = { email: 'flow@fields.example', ...eachField(() => 'before') };
    const { path } = await done('POST', `/v1/flows/${id}/simulate`, { contact: simulated });
    const walked = path.map(({ step, outcome }: { step: string; outcome: string }) => `${step} ${outcome}`);
    expect(walked.slice(0, 2)).toEqual(['set updated', 'ask met']);
  });

  test('is named by the page about templates', () => {
    const page = readFileSync(join(import.meta.dir, '../../src/web/docs/texts/templates.md'), 'utf8');
    for (const name of CONTACT_FIELD_NAMES) expect(page).toContain(`\`contact.${name}\``);
  });
});

test('the name of a person is written with the first name first', () => {
  const unknown = eachField(() => null);
  expect(wholeName({ ...unknown, firstName: 'Ada', lastName: 'Lovelace' })).toBe('Ada Lovelace');
  expect(wholeName({ ...unknown, lastName: 'Lovelace' })).toBe('Lovelace');
  expect(wholeName(unknown)).toBe('');
});
