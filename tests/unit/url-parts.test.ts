import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverName } from '../../src/platform/db/server/server-urls.ts';
import { databaseName, partsOf, problemOfParameters } from '../../src/platform/db/server/url-parts.ts';
import { classify } from '../../src/platform/db/sqlstate.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';

const at = (query: string) => `postgres://u@one/x?${query}`;

describe('the parts of the URL of a server', () => {
  test('are decoded, the name of the database too', () => {
    const url = 'postgres://r%40x:p%2F%23%3F%25@one:5433/mail%20%2F1';
    expect(partsOf(url)).toEqual({
      host: 'one',
      port: 5433,
      user: 'r@x',
      password: 'p/#?%',
      database: 'mail /1',
      settings: {},
    });
    expect(databaseName(url)).toBe('mail /1');
  });

  test('name the user where they name no database', () => {
    expect(databaseName('postgres://ada@one')).toBe('ada');
  });

  test('have a Unix socket for a folder, and no TLS there', () => {
    const url = 'postgres://u:p@%2Frun%2Fpg:5433/x?sslmode=require&host=/run/pg&port=5433';
    expect(partsOf(url)).toMatchObject({ path: '/run/pg/.s.PGSQL.5433', ssl: false, settings: {} });
    expect(serverName(url)).toBe('/run/pg:5433');
  });

  test('have IPv6 addresses without brackets', () => {
    expect(partsOf('postgres://u@[::1]:5433/x')).toMatchObject({ host: '::1', port: 5433 });
  });

  test.each([
    ['', undefined],
    ['sslmode=disable', false],
    ['sslmode=allow', 'prefer'],
    ['sslmode=prefer', 'prefer'],
    ['sslmode=require', 'require'],
    ['sslmode=no-verify', 'require'],
    ['sslmode=verify-full', 'verify-full'],
    ['ssl=true', 'verify-full'],
    ['sslrootcert=system', 'verify-full'],
  ])('%s encrypts', (query, ssl) => {
    expect(partsOf(at(query)).ssl).toEqual(ssl as never);
  });

  test('have no connection in the clear for a word that asks for another', () => {
    for (const query of ['sslmode=verifyfull', 'ssl=on'])
      expect(() => partsOf(at(query))).toThrow('sslmode must');
  });

  test('pass on settings of the server, and none of other clients, of names or of forms', () => {
    const others =
      'application_name=x&connect_timeout=9&keepalives=1&gssencmode=disable&pgbouncer=true&DateStyle=German';
    expect(partsOf(at(`${others}&client_encoding=latin1&work_mem=8MB`)).settings).toEqual({
      work_mem: '8MB',
    });
  });

  test('name the authority whose certificates alone are accepted', () => {
    const file = import.meta.path;
    expect(partsOf(at(`sslmode=require&sslrootcert=${file}`)).ssl).toHaveProperty('ca');
    expect(partsOf(at(`sslmode=verify-full&sslrootcert=${file}`)).ssl).not.toHaveProperty(
      'checkServerIdentity',
    );
    expect(partsOf(at(`sslmode=verify-ca&sslrootcert=${file}`)).ssl).not.toHaveProperty('rejectUnauthorized');
    const alone = partsOf(at(`sslrootcert=${file}`)).ssl;
    expect(alone).toHaveProperty('ca');
    expect(alone).not.toHaveProperty('rejectUnauthorized');
  });

  test('have the authority of before while its file is being written', () => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-authority-'));
    const file = join(folder, 'ca.pem');
    const url = at(`sslmode=verify-full&sslrootcert=${file}`);
    try {
      expect(() => partsOf(url)).toThrow('ENOENT');
      writeFileSync(file, 'first');
      expect(partsOf(url).ssl).toEqual({ ca: 'first' });
      writeFileSync(file, '');
      expect(partsOf(url).ssl).toEqual({ ca: 'first' });
      rmSync(file);
      expect(partsOf(url).ssl).toEqual({ ca: 'first' });
      writeFileSync(file, 'second');
      expect(partsOf(url).ssl).toEqual({ ca: 'second' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('parameters that no connection can have', () => {
  test.each([
    ['sslmode=verify', 'sslmode must be one of'],
    ['sslmode=require&sslrootcert=system', 'sslmode must be verify-full with sslrootcert=system'],
    ['sslmode=verify-ca&sslrootcert=system', 'sslmode must be verify-full with sslrootcert=system'],
    ['sslrootcert=system', null],
    ['channel_binding=require', 'channel_binding=require must be removed'],
    ['target_session_attrs=leader', 'target_session_attrs must be one of'],
    ['sslrootcert=/no/such/file', 'sslrootcert must be the path'],
    ['sslmode=require&channel_binding=prefer&target_session_attrs=read-write', null],
  ])('%s', (query, problem) => {
    if (problem === null) expect(problemOfParameters(at(query))).toBeNull();
    else expect(problemOfParameters(at(query))).toStartWith(problem);
  });
});

describe('a server whose TLS does not fit', () => {
  test.each([
    ['self signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'has a certificate that is not trusted'],
    ['unable to verify', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'has a certificate that is not trusted'],
    ['Hostname does not match', 'ERR_TLS_CERT_ALTNAME_INVALID', 'has a certificate that is not trusted'],
    ['certificate has expired', 'CERT_HAS_EXPIRED', 'has a certificate that is not trusted'],
    [
      'Client network socket disconnected before secure TLS connection was established',
      'ECONNRESET',
      'offers no TLS',
    ],
  ])('%s', (message, code, says) => {
    const known = classify(Object.assign(new Error(message), { code }));
    expect(known).toBeInstanceOf(UnavailableError);
    expect(known).toMatchObject({ applied: 'no' });
    expect(String(known)).toContain(says);
  });
});
