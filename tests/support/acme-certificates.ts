import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** The time in which a certificate holds. */
export interface Dates {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A certificate authority of a test: it issues for requests, and for itself. */
export interface TestAuthority {
  /** Its own certificate, which clients trust, in PEM. */
  readonly root: string;
  /** The names that a signed request (DER) asks for. @throws when its signature is wrong */
  namesIn(request: Buffer): Promise<readonly string[]>;
  /** The chain for a signed request, in PEM. */
  issue(request: Buffer, dates: Dates): Promise<string>;
  /** A certificate and key for names of the machine, in PEM. */
  own(dates: Dates): Promise<{ readonly cert: string; readonly key: string }>;
}

/** Makes an authority with a new key. */
export async function createTestAuthority(): Promise<TestAuthority> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const year = 365 * 86_400_000;
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Test authority',
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Date.now() - year),
    notAfter: new Date(Date.now() + year),
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  const issueFor = async (
    publicKey: x509.PublicKeyType,
    names: readonly x509.JsonGeneralName[],
    dates: Dates,
  ) =>
    x509.X509CertificateGenerator.create({
      ...dates,
      subject: 'CN=issued',
      issuer: root.subject,
      publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [new x509.SubjectAlternativeNameExtension([...names])],
    });
  const read = (der: Buffer) => {
    const request = new x509.Pkcs10CertificateRequest(der);
    const extension = request.getExtension('2.5.29.17');
    const names = extension && new x509.SubjectAlternativeNameExtension(extension.rawData);
    return { request, names: names?.names.toJSON() ?? [] };
  };
  return {
    root: root.toString('pem'),
    async namesIn(der) {
      const { request, names } = read(der);
      if (!(await request.verify())) throw new Error('The signature of the request is wrong.');
      return names.map(({ value }) => String(value));
    },
    async issue(der, dates) {
      const { request, names } = read(der);
      const leaf = await issueFor(request.publicKey, names, dates);
      return `${leaf.toString('pem')}\n${root.toString('pem')}\n`;
    },
    async own(dates) {
      const pair = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const leaf = await issueFor(pair.publicKey, [{ type: 'ip', value: '127.0.0.1' }], dates);
      const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).toString('base64');
      const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
      return { cert: leaf.toString('pem'), key };
    },
  };
}
