import { expect, test } from 'bun:test';
import { ConnectionLimit } from '../../../src/mail/inbound/connection-limit.ts';

const from = (remoteAddress: string) => ({ remoteAddress });

test('SMTP connections are bounded per address and IPv6 network', () => {
  const guests = new ConnectionLimit(2);
  const [first, second, third] = ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1'].map(from);
  expect([first, second, third].map((one) => one && guests.admit(one))).toEqual([true, true, false]);
  expect(guests.admit(from('192.0.2.2'))).toBe(true);
  const network = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'].map(from);
  expect(network.map((one) => guests.admit(one))).toEqual([true, true, false, true]);
});

test('an SMTP connection gives its place back once', () => {
  const guests = new ConnectionLimit(1);
  const [one, other] = [from('192.0.2.1'), from('192.0.2.1')];
  expect([guests.admit(one), guests.admit(other)]).toEqual([true, false]);
  guests.leave(other);
  expect(guests.admit(other)).toBe(false);
  guests.leave(one);
  guests.leave(one);
  expect([guests.admit(other), guests.admit(one)]).toEqual([true, false]);
});
