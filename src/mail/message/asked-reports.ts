/** The reports that a sender may ask for about a recipient (RFC 3461, 4.1). */
export type Notify = 'SUCCESS' | 'FAILURE' | 'DELAY';

/** What a sender asks of reports about one recipient. */
export interface RecipientReports {
  /** An empty list is NEVER; null where nothing is asked. */
  readonly notify: readonly Notify[] | null;
  /** ORCPT without its encoding: the type of the address, a semicolon, the address. */
  readonly originalRecipient: string | null;
}

/** What a sender asks of the reports about a message, whoever they are about. */
export interface MessageReports {
  /** How much of the message a report returns (RET); null leaves that to the server. */
  readonly returned: 'FULL' | 'HDRS' | null;
  /** ENVID without its encoding. */
  readonly envelopeId: string | null;
}

/** What a sender asks of the reports about one copy. */
export type AskedReports = MessageReports & RecipientReports;
