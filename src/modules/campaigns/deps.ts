import type { Signer } from '../../crypto/signer.ts';
import type { Database } from '../../db/database.ts';
import type { Engine } from '../../engine/engine.ts';
import type { AcceptanceDeps } from '../emails/accept.ts';
import type { IsMember, TemplateContents } from '../templates/queries.ts';

/** The services that campaigns call. */
export interface CampaignDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly signer: Signer;
  readonly contents: TemplateContents;
  readonly acceptance: AcceptanceDeps;
  readonly isMember: IsMember;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
}
