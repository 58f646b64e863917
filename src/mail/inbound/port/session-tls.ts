import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { SMTPServerSession } from 'smtp-server';
import type { CertificateSource } from '../../../platform/crypto/certificate-source.ts';
import type { Connection } from '../connection.ts';

/** RFC 8996: 1.0 and 1.1 must not be used. */
export const OLDEST_TLS = 'TLSv1.2';

/**
 * Has a connection put STARTTLS off while there is no certificate: the library would take the one of its
 * tests, whose key is public.
 */
export function needCertificate(connection: Connection, certificate: CertificateSource): void {
  const start = connection.handler_STARTTLS.bind(connection);
  connection.handler_STARTTLS = (command, done) => {
    if (certificate.current !== null || connection.secure) return start(command, done);
    // RFC 3207 4.
    connection.send(454, '4.7.0 TLS is not available now, please try again later');
    done();
  };
}

/** By its session, as a trace field writes it. */
const secured = new WeakMap<SMTPServerSession, string>();

/** Notes the TLS of a connection. */
export function noteTls(socket: Socket | TLSSocket, session: SMTPServerSession): void {
  if (!('getCipher' in socket)) return;
  const { standardName: name } = socket.getCipher();
  if (name) secured.set(session, `${name} (${socket.getProtocol()})`);
}

/**
 * Cipher suite and version of the TLS of a session, such as `TLS_AES_128_GCM_SHA256 (TLSv1.3)`; null in clear
 * text.
 */
export const tlsOf = (session: SMTPServerSession): string | null => secured.get(session) ?? null;
