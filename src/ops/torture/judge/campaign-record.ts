import type { Post } from './flow-record.ts';

/** People whom each campaign is for: few, since all of their mail leaves in every round. */
const PEOPLE = 40;
/** The pattern of all the people's addresses, and of no others; the mail sink takes mail for them. */
export const PEOPLE_LIKE = 'taken-campaign-%@receiver.example';

/** Everybody in the audience. */
const people = (): readonly string[] =>
  Array.from({ length: PEOPLE }, (_, number) => PEOPLE_LIKE.replace('%', String(number)));

/** Numbers of a campaign, as they are answered. */
export interface CampaignStats {
  readonly total: number;
  readonly sent: number;
  readonly remaining: number;
  readonly skipped: number;
  readonly failed: number;
}

/** True when each recipient is counted once. */
export const isBalanced = ({ total, sent, remaining, skipped, failed }: CampaignStats): boolean =>
  total === sent + remaining + skipped + failed;

/** The requests of campaigns, and their answers. */
export class CampaignRecord {
  readonly people: readonly string[] = people();
  /** The ids of campaigns whose start was acknowledged. */
  readonly begun = new Set<string>();
  /** Looks at their numbers, and the answers that did not balance. */
  looks = 0;
  readonly unbalanced: string[] = [];
  /** Pauses that were answered. */
  pauses = 0;
  /** Audiences of campaigns that had begun, deleted while some of their mail may have been deferred. */
  deleted = 0;

  look(id: string, stats: CampaignStats): void {
    this.looks++;
    if (!isBalanced(stats)) this.unbalanced.push(`${id} ${JSON.stringify(stats)}`);
  }
}

/**
 * Makes an audience of all people in the record, and returns its id. They must exist before a flow begins
 * with each new contact.
 */
export async function preparePeople(post: Post): Promise<string> {
  const audienceId = await post('/v1/audiences', { name: 'Torture', type: 'static' });
  await post('/v1/contacts/batch', { contacts: people().map((email) => ({ email })) });
  await post(`/v1/audiences/${audienceId}/contacts`, { emails: people() });
  return audienceId;
}
