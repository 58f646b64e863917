import { expect } from 'bun:test';
import { compileChecker } from '../../src/http/request/schema.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { readSendRequest, type SendRequest } from '../../src/sending/emails/accept/request.ts';
import { SendBody } from '../../src/sending/emails/accept/request-model.ts';

/** The time at which every request here is read. */
export const NOW = Date.parse('2026-11-20T12:00:00Z');
/** The domain of the simulator. */
export const SIMULATOR = 'simulator.svc.test';

/** The problems of the shape of a body. */
export const checkShape = compileChecker(SendBody);

/** The least that is accepted. */
export const plain = {
  from: 'Acme <hello@acme.example>',
  to: 'ada@example.com',
  subject: 'Hello',
  text: 'Hello.',
};

/** Reads a body as it is. */
export const read = (body: Record<string, unknown>, at = '/body') =>
  readSendRequest(body as unknown as SendBody, { now: NOW, simulatorDomain: SIMULATOR, at });

/** The plain request so changed, as the service reads it: the shape first, then the rest. */
export const accepted = (change: Record<string, unknown> = {}): SendRequest => {
  const body = { ...plain, ...change };
  expect(checkShape(body, '/body')).toBeNull();
  const request = read(body);
  if (request instanceof Failure) throw new Error(JSON.stringify(request));
  return request;
};

/** The refusal of the plain request so changed. */
export const refusal = (change: Record<string, unknown>, at?: string): Failure => {
  const body = { ...plain, ...change };
  const failure = read(JSON.parse(JSON.stringify(body)), at);
  if (!(failure instanceof Failure)) throw new Error('it was accepted');
  expect(failure.code).toBe('VALIDATION_ERROR');
  return failure;
};

/** The problems of the plain request with this change, by place. */
export const problems = (change: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(refusal(change).extra.details?.map(({ path, message }) => [path, message]) ?? []);

/** Refused at exactly these places. */
export const places = (change: Record<string, unknown>) => Object.keys(problems(change));

/** The places at which the shape of the changed plain request is wrong. */
export const misshapen = (change: Record<string, unknown>) =>
  checkShape({ ...plain, ...change }, '/body')?.map(({ path }) => path) ?? [];
