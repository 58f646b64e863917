/** The reports that a sender may ask for about a recipient (RFC 3461, 4.1). */
export type Notify = 'SUCCESS' | 'FAILURE' | 'DELAY';

/** The reports about one recipient that a sender asks for. */
export interface RecipientReports {
  /** An empty list is NEVER; null where nothing is asked. */
  readonly notify: readonly Notify[] | null;
  /** ORCPT without its encoding: the type of the address, a semicolon, the address. */
  readonly originalRecipient: string | null;
}

/** The form of all reports about a message. */
export interface MessageReports {
  /** The part of the message that a report returns (RET); null leaves it to the server. */
  readonly returned: 'FULL' | 'HDRS' | null;
  /** ENVID without its encoding. */
  readonly envelopeId: string | null;
}

/** The reports about one copy that a sender asks for. */
export type AskedReports = MessageReports & RecipientReports;
