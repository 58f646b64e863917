/** The body of a first request. */
interface FirstEmail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command that sends an email with that key to this service. */
export const curlWith = (key: string, email: FirstEmail): string =>
  [
    `curl ${location.origin}/v1/emails`,
    `-H ${quoted(`authorization: Bearer ${key}`)}`,
    `-H 'content-type: application/json'`,
    `-d ${quoted(JSON.stringify(email))}`,
  ].join(' \\\n  ');
