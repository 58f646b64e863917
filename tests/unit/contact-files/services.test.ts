import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileRequest, readContactFile, statusesOf } from '../../support/read-contact-file.ts';

const FILES = join(import.meta.dir, '../../fixtures/contact-files');
const read = (name: string, request?: FileRequest) =>
  readContactFile(readFileSync(join(FILES, name)), request);

describe('files as other services and programs write them: who has left is not subscribed', () => {
  const CASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'brevo.csv': {
      'br-in@example.com': 'subscribed',
      'br-out@example.com': 'unsubscribed',
      'br-block@example.com': 'unsubscribed',
    },
    'generic-status.csv': {
      'gs-1@example.com': 'subscribed',
      'gs-2@example.com': 'unsubscribed',
      'gs-3@example.com': 'bounced',
    },
    'hubspot.csv': {
      'hs-in@example.com': 'subscribed',
      'hs-out@example.com': 'unsubscribed',
      'hs-bounce@example.com': 'bounced',
    },
    'hubspot-unsubscribes-bounces.csv': {
      'hs2-out@example.com': 'unsubscribed',
      'hs2-bounce@example.com': 'bounced',
    },
    'mailchimp-api-status.csv': {
      'mc-a@example.com': 'subscribed',
      'mc-b@example.com': 'unsubscribed',
      'mc-c@example.com': 'bounced',
      'mc-d@example.com': 'not subscribed',
    },
    'posthorn-export.csv': { 'ph-left2@example.com': 'unsubscribed' },
    'google.csv': { 'go-1@example.com': 'subscribed', 'go-2@example.com': 'subscribed' },
    'thunderbird.csv': { 'tb-1@example.com': 'subscribed' },
    'outlook-de.csv': { 'ol-de@example.com': 'subscribed' },
    'excel-sep.csv': { 'ex-1@example.com': 'subscribed', 'ex-2@example.com': 'subscribed' },
    'excel-short-rows.csv': { 'ex-4@example.com': 'subscribed', 'ex-5@example.com': 'subscribed' },
    'excel-us-dates.csv': { 'ex-6@example.com': 'subscribed', 'ex-7@example.com': 'subscribed' },
  };
  for (const [name, statuses] of Object.entries(CASES))
    test(name, async () => {
      const file = await read(name);
      expect(file.problems).toEqual([]);
      expect(statusesOf(file)).toEqual(statuses);
      // A contact of Google without an address is the only row that cannot be taken.
      expect(file.batch.faults.map(([, , code]) => code)).toEqual(
        name === 'google.csv' ? ['missing_email'] : [],
      );
      // The wizard sends the columns that the service has recognised: the result is the same.
      const again = await read(name, { columns: file.targets });
      expect({ targets: again.targets, statuses: statusesOf(again) }).toEqual({
        targets: file.targets,
        statuses,
      });
    });
});

describe('names of people', () => {
  test('are found in the address books of Google, Thunderbird and Outlook', async () => {
    const named = async (name: string) =>
      (await read(name)).batch.contacts.map(({ first_name, last_name }) => [first_name, last_name]);
    expect(await named('google.csv')).toEqual([
      ['Ada', 'Example'],
      ['Ben', 'Example'],
    ]);
    expect(await named('thunderbird.csv')).toEqual([['Ada', 'Example']]);
    expect(await named('outlook-de.csv')).toEqual([['Jörg', 'Müller']]);
  });

  for (const header of [
    'First Name,Last Name,E-mail Address',
    'Vorname,Nachname,E-Mail-Adresse',
    'Vorname,Nachname,Primäre E-Mail-Adresse',
    'Prénom,Nom,Adresse de messagerie',
    'Prénom,Nom de famille,Première adresse électronique',
    'Nombre,Apellidos,Dirección de correo electrónico',
    'Nome,Cognome,Indirizzo posta elettronica',
    'Voornaam,Achternaam,E-mailadres',
  ])
    test(`are found behind ${header}`, async () => {
      const { batch } = await readContactFile(`${header}\n  Ada ,Lovelace  ,ada@example.com \n ,, \n`);
      expect(batch).toMatchObject({ total: 1, refused: 0 });
      expect(batch.contacts[0]).toMatchObject({
        email: 'ada@example.com',
        first_name: 'Ada',
        last_name: 'Lovelace',
      });
    });
});
