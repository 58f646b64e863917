import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

// An authenticator in software (WebAuthn level 3, 6): one ES256 key, no attestation, a user who always
// agrees.

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const base64url = (data: Uint8Array) => Buffer.from(data).toString('base64url');

/** The circumstances of a ceremony; a wrong origin or host is what a phishing site would have. */
export interface Ceremony {
  readonly challenge: string;
  readonly origin: string;
  readonly host: string;
  /** False for a user who was not asked for a finger or a PIN. */
  readonly verified?: boolean;
}

/** Makes a passkey that can be enrolled and then signs in. */
export function createPasskey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let counter = 0;
  const clientData = (type: string, { challenge, origin }: Ceremony) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authenticatorData = ({ host, verified = true }: Ceremony, attested: Uint8Array | null) => {
    const head = Buffer.alloc(37);
    sha256(host).copy(head);
    head[32] = 0x01 | (verified ? 0x04 : 0) | (attested ? 0x40 : 0);
    head.writeUInt32BE(++counter, 33);
    return Buffer.concat([head, attested ?? Buffer.alloc(0)]);
  };
  return {
    /** The answer to the options of an enrolment. */
    enrol(ceremony: Ceremony) {
      const key = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      const data = authenticatorData(ceremony, attested);
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.from([data.length]),
        data,
      ]);
      return {
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', ceremony)),
          attestationObject: base64url(attestation),
        },
      };
    },
    /** The answer to the options of a sign-in. */
    signIn(ceremony: Ceremony) {
      const client = clientData('webauthn.get', ceremony);
      const data = authenticatorData(ceremony, null);
      const signature = createSign('sha256').update(data).update(sha256(client)).sign(privateKey);
      return {
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(data),
          signature: base64url(signature),
        },
      };
    },
  };
}
