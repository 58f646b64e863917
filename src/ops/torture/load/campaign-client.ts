import type { CampaignRecord, CampaignStats } from '../judge/campaign-record.ts';
import { Patience } from '../patience.ts';
import { Workload, type WorkloadParts } from './workload.ts';

export interface CampaignClientParts extends WorkloadParts {
  readonly audienceId: string;
  /** The sender. */
  readonly from: string;
  readonly record: CampaignRecord;
}

type CampaignResponse<Data> = { readonly data?: Data } | null;
type Campaign = { readonly id: string; readonly status: string };

/** Pause before a request is repeated. It shapes the load; nothing is waited for. */
const REPEAT_MS = 100;
/** Between two looks at a campaign. */
const LOOK_MS = 50;
/** One look in this many is followed by a pause of the campaign. */
const PAUSE_EVERY = 2;
/** Campaigns that are given out at the same time. */
const WORKERS = 4;
/** One campaign in this many goes to the audience of all. */
const SHARED_EVERY = 4;
/**
 * One look in this many is followed by an attempt to delete the audience, which is refused until all
 * recipients are given out.
 */
const DELETE_EVERY = 4;
/**
 * Ten a second, so that each campaign is given out in several statements, with time in between for faults.
 */
const RATE_PER_HOUR = 36_000;
/** Time in which all campaigns have to end once the faults have. */
const FINISH_MS = 180_000;

/**
 * An application that sends campaigns to the same people, the next ones when these are given out, looks at
 * their numbers, and pauses them at times. Most of them go to separate audiences, which it deletes as soon as
 * it may: while servers still defer mail.
 */
export class CampaignClient extends Workload<CampaignClientParts> {
  /** The audiences that campaigns have for themselves, until they are deleted. */
  readonly #audiences = new Map<string, string>();
  #rounds = 0;

  constructor(parts: CampaignClientParts) {
    super(parts, 2, WORKERS);
  }

  /**
   * Resumes campaigns after a late pause, until every campaign is sent. One that is never sent is left to the
   * judge.
   */
  async finish(): Promise<void> {
    const { record } = this.parts;
    const open = new Set(record.begun);
    const patience = new Patience(FINISH_MS);
    while (open.size > 0 && patience.lasts) {
      for (const id of open) {
        const status = await this.#follow(id);
        const isGivenOut = status === 'sent' || status === 'given out';
        const isDeleted = isGivenOut && (await this.#deleteAudience(id));
        if (status === 'sent' && isDeleted) open.delete(id);
        if (status === 'paused') await this.#send(id);
      }
      await patience.pause(REPEAT_MS);
    }
  }

  protected async round(): Promise<void> {
    const own = ++this.#rounds % SHARED_EVERY === 0 ? null : await this.#makeAudience();
    const id = await this.#make(own ?? this.parts.audienceId);
    if (id === null) return;
    if (own !== null) this.#audiences.set(id, own);
    if (!(await this.#send(id))) return;
    this.parts.record.begun.add(id);
    await this.#watch(id);
  }

  /** An audience of all people; null if no answer confirmed that all of them are in it. */
  async #makeAudience(): Promise<string | null> {
    const made = await this.ask({ method: 'POST', path: '/v1/audiences', body: { name: 'Of one campaign' } });
    const id =
      made.status === 201 ? (made.body as CampaignResponse<{ readonly id: string }>)?.data?.id : undefined;
    while (id !== undefined && !this.isStopped) {
      const path = `/v1/audiences/${id}/contacts`;
      const { status } = await this.ask({ method: 'POST', path, body: { emails: this.parts.record.people } });
      if (status === 200) return id;
      await Bun.sleep(REPEAT_MS);
    }
    return null;
  }

  /**
   * Deletes the audience of a campaign; false while that was not answered, or is refused since the campaign
   * still needs it.
   */
  async #deleteAudience(campaignId: string): Promise<boolean> {
    const id = this.#audiences.get(campaignId);
    if (id === undefined) return true;
    const { status } = await this.ask({ method: 'DELETE', path: `/v1/audiences/${id}` });
    // Gone: by a request whose answer was lost.
    if (status !== 204 && status !== 404) return false;
    this.#audiences.delete(campaignId);
    this.parts.record.deleted++;
    return true;
  }

  /** A draft that was made without an answer stays a draft: it is made again. */
  async #make(audienceId: string): Promise<string | null> {
    const { from } = this.parts;
    const said = { from, subject: 'Campaign', html: '<p>Hello {{ contact.email }}</p>' };
    const asked = { name: 'Torture', audienceId, ratePerHour: RATE_PER_HOUR, ...said };
    const { status, body } = await this.ask({ method: 'POST', path: '/v1/campaigns', body: asked });
    if (status === 201) return (body as CampaignResponse<Campaign>)?.data?.id ?? null;
    await Bun.sleep(REPEAT_MS);
    return null;
  }

  /**
   * Starts or resumes a campaign. A conflict says that a try without an answer did; then the campaign's
   * status answers the caller.
   */
  async #send(id: string): Promise<boolean> {
    for (;;) {
      const { status } = await this.ask({ method: 'POST', path: `/v1/campaigns/${id}/send`, body: {} });
      if (status === 200 || status === 409) return true;
      if (this.isStopped) return false;
      await Bun.sleep(REPEAT_MS);
    }
  }

  async #watch(id: string): Promise<void> {
    const { record } = this.parts;
    while (!this.isStopped) {
      const status = await this.#follow(id);
      if (this.chance.between(1, DELETE_EVERY) === 1) await this.#deleteAudience(id);
      if (status === 'sent' || status === 'given out') return this.#deleteAtLast(id);
      if (status === 'paused') await this.#send(id);
      else if (status === 'sending' && this.chance.between(1, PAUSE_EVERY) === 1) {
        const paused = await this.ask({ method: 'POST', path: `/v1/campaigns/${id}/pause`, body: {} });
        if (paused.status === 200) record.pauses++;
      }
      await Bun.sleep(LOOK_MS);
    }
  }

  /** Deletes the audience of a campaign whose emails all exist, and may still be put off. */
  async #deleteAtLast(id: string): Promise<void> {
    while (!this.isStopped && !(await this.#deleteAudience(id))) await Bun.sleep(REPEAT_MS);
  }

  /**
   * Reads the numbers of a campaign, and returns its status, or that all recipients are given out; null
   * without an answer.
   */
  async #follow(id: string): Promise<string | null> {
    const path = `/v1/campaigns/${id}`;
    const stats = await this.ask({ method: 'GET', path: `${path}/stats` });
    const numbers = (stats.body as CampaignResponse<CampaignStats>)?.data;
    if (stats.status === 200 && numbers) this.parts.record.look(id, numbers);
    const { status, body } = await this.ask({ method: 'GET', path });
    const told = status === 200 ? ((body as CampaignResponse<Campaign>)?.data?.status ?? null) : null;
    return told === 'sending' && numbers?.remaining === 0 ? 'given out' : told;
  }
}
