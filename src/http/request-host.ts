import { Failure } from '../platform/errors/failure.ts';

/**
 * A host and a port (RFC 9110, 7.2; RFC 3986, 3.2.2); empty where the target has none. A comma is none of a
 * name in use: the server joins two fields by one.
 */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d{0,5})?$/i;

/**
 * The refusal of a request whose host is not certain (RFC 9112, 3.2): a proxy before this service may have
 * gone by the other one.
 */
export const UNCERTAIN_HOST = new Failure('BAD_REQUEST', 'Send one Host header that holds only a host.', {
  suggestion: 'Most clients set it automatically: remove it from the headers that you set.',
});

/**
 * True of a request with one valid Host, or with none, as HTTP/1.0 allows. The server itself refuses HTTP/1.1
 * without one.
 */
export const hasOneHost = ({ headers }: Pick<Request, 'headers'>): boolean =>
  HOST.test(headers.get('host') ?? '');
