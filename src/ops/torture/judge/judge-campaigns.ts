import type { Session } from '../../../engine/audit/session.ts';
import type { CampaignRecord } from './campaign-record.ts';
import type { Violations } from './invariants.ts';

/** Every campaign that has begun, with the numbers that follow from its recipients' rows. */
const CAMPAIGNS = `select c.id, c.state, (
  select json_build_object('total', count(*), 'given', count(*) filter (where r.state in ('sent', 'failed'))) from campaign_recipients r
  where r.campaign_id = c.id) as recipients
from campaigns c where c.context ->> 'startedAt' is not null order by c.id`;

interface CampaignRow {
  readonly id: string;
  readonly state: string;
  /**
   * `given` counts the recipients that were given out; an email whose doubt is held to the end has failed.
   */
  readonly recipients: { readonly total: number; readonly given: number };
}

/** The amount of campaign work that was tested. */
export interface CampaignsSeen {
  readonly begun: number;
  /** Looks at their numbers. */
  readonly looks: number;
  readonly pauses: number;
  /** Audiences that were deleted. */
  readonly deleted: number;
}

/** Compares campaigns with the people they were for, and each of them with the emails that were accepted. */
export class CampaignJudge {
  /** Emails that were accepted for each campaign, by the address. */
  readonly #mails = new Map<string, Map<string, string>>();

  constructor(
    private readonly record: CampaignRecord,
    private readonly violations: Violations,
  ) {}

  /** Notes an email of a campaign; each of the people may have one. */
  note(campaignId: string, address: string, id: string): void {
    const mails = this.#mails.get(campaignId) ?? new Map<string, string>();
    this.#mails.set(campaignId, mails);
    const other = mails.get(address);
    if (other !== undefined)
      this.violations.add('recipientTwice', `${address} has ${other} and ${id} of ${campaignId}`);
    mails.set(address, id);
    if (!this.record.people.includes(address))
      this.violations.add('unexplained', `${id} of ${campaignId} is for ${address}`);
  }

  /** Looks at all campaigns once every email has been noted; answers how much there was to see. */
  async close(session: Session): Promise<CampaignsSeen> {
    const { people, begun, unbalanced, looks, pauses, deleted } = this.record;
    const rows = await session.query<CampaignRow>(CAMPAIGNS);
    const stored = new Set(rows.map(({ id }) => id));
    for (const id of begun)
      if (!stored.has(id)) this.violations.add('lost', `${id} was begun and is not stored`);
    for (const { id, state, recipients } of rows) {
      const missed = people.filter((address) => !this.#mails.get(id)?.has(address));
      if (missed.length > 0)
        this.violations.add(
          'recipientMissed',
          `${missed.length} of ${id} have no email, ${missed[0]} the first`,
        );
      if (state !== 'sent' || recipients.total !== people.length || recipients.given !== people.length)
        this.violations.add(
          'wrongCampaign',
          `${id} is ${state}: ${recipients.given} of ${recipients.total} recipients were given out`,
        );
    }
    for (const what of unbalanced) this.violations.add('unbalanced', what);
    return { begun: rows.length, looks, pauses, deleted };
  }
}
