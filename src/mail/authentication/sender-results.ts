/** The results of checking the sender of a message. */

/** A result in the words of RFC 8601 2.7. */
export type AuthenticationResult =
  | 'pass'
  | 'fail'
  | 'softfail'
  | 'neutral'
  | 'none'
  | 'temperror'
  | 'permerror';

export interface SenderResults {
  readonly spf: {
    readonly result: AuthenticationResult;
    /** The domain that was checked: that of the envelope sender, or of HELO where the sender is null. */
    readonly domain: string | null;
  };
  readonly dkim: {
    /** `pass` when one signature is valid. */
    readonly result: AuthenticationResult;
    /** The domains of valid signatures, each once. */
    readonly domains: readonly string[];
  };
  readonly dmarc: {
    /** `none` where the author's domain has no policy. */
    readonly result: AuthenticationResult;
    /** The policy that the owner wants applied; null where there is none. */
    readonly policy: 'none' | 'quarantine' | 'reject' | null;
    /** The domain of the From field; null when there is none, or more than one. */
    readonly domain: string | null;
  };
  readonly arc: { readonly result: AuthenticationResult };
  /**
   * The author's domain, when SPF or DKIM proves that the message comes from its organization: as DMARC does
   * it, also without a policy. Null when nothing proves it.
   */
  readonly author: string | null;
}

/** The results of a message that cannot be checked: its header is too large, or took too long. */
export const UNCHECKED: SenderResults = {
  spf: { result: 'permerror', domain: null },
  dkim: { result: 'permerror', domains: [] },
  dmarc: { result: 'permerror', policy: null, domain: null },
  arc: { result: 'permerror' },
  author: null,
};

/** True when a name server gave no answer, so that a later check may prove the author. */
export const mayPassLater = ({ author, spf, dkim, dmarc }: SenderResults): boolean =>
  author === null && [spf, dkim, dmarc].some(({ result }) => result === 'temperror');
