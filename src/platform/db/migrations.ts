// Written by scripts/migrations.ts from the files in drizzle/. See drizzle/README.md.
import schema from '../../../drizzle/0000_schema.sql' with { type: 'text' };
import handWritten from '../../../drizzle/0001_hand_written.sql' with { type: 'text' };
import reportTurns from '../../../drizzle/0002_report_turns.sql' with { type: 'text' };
import requestLog from '../../../drizzle/0003_request_log.sql' with { type: 'text' };
import assets from '../../../drizzle/0004_assets.sql' with { type: 'text' };
import receivedMail from '../../../drizzle/0005_received_mail.sql' with { type: 'text' };
import aggregateReports from '../../../drizzle/0006_aggregate_reports.sql' with { type: 'text' };
import imagesInContent from '../../../drizzle/0007_images_in_content.sql' with { type: 'text' };
import templateLayers from '../../../drizzle/0008_template_layers.sql' with { type: 'text' };
import receivedAddresses from '../../../drizzle/0009_received_addresses.sql' with { type: 'text' };
import replies from '../../../drizzle/0010_replies.sql' with { type: 'text' };
import forwardedMail from '../../../drizzle/0011_forwarded_mail.sql' with { type: 'text' };
import savedViews from '../../../drizzle/0012_saved_views.sql' with { type: 'text' };
import mailboxes from '../../../drizzle/0013_mailboxes.sql' with { type: 'text' };
import takeUp from '../../../drizzle/0014_take_up.sql' with { type: 'text' };
import assetBodies from '../../../drizzle/0015_asset_bodies.sql' with { type: 'text' };
import sentMessageIds from '../../../drizzle/0016_sent_message_ids.sql' with { type: 'text' };
import languagesOfMembers from '../../../drizzle/0017_languages_of_members.sql' with { type: 'text' };
import savedViewsAtOnce from '../../../drizzle/0018_saved_views_at_once.sql' with { type: 'text' };
import editorDrafts from '../../../drizzle/0019_editor_drafts.sql' with { type: 'text' };
import deletedImages from '../../../drizzle/0020_deleted_images.sql' with { type: 'text' };
import bodyStorePlace from '../../../drizzle/0021_body_store_place.sql' with { type: 'text' };
import brandFont from '../../../drizzle/0022_brand_font.sql' with { type: 'text' };
import replicaIdentities from '../../../drizzle/0023_replica_identities.sql' with { type: 'text' };
import forgottenLeavings from '../../../drizzle/0024_forgotten_leavings.sql' with { type: 'text' };
import actsBesideReasons from '../../../drizzle/0025_acts_beside_reasons.sql' with { type: 'text' };
import limitApiKeys from '../../../drizzle/0026_limit_api_keys.sql' with { type: 'text' };
import invitationsAtOnce from '../../../drizzle/0027_invitations_at_once.sql' with { type: 'text' };

/** One step of the schema. Never changed once released: its hash is compared at every start. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** All of them, oldest first; carried inside the executable. */
// biome-ignore format: generated
export const migrations: readonly Migration[] = [
  { name: '0000_schema', sql: schema },
  { name: '0001_hand_written', sql: handWritten },
  { name: '0002_report_turns', sql: reportTurns },
  { name: '0003_request_log', sql: requestLog },
  { name: '0004_assets', sql: assets },
  { name: '0005_received_mail', sql: receivedMail },
  { name: '0006_aggregate_reports', sql: aggregateReports },
  { name: '0007_images_in_content', sql: imagesInContent },
  { name: '0008_template_layers', sql: templateLayers },
  { name: '0009_received_addresses', sql: receivedAddresses },
  { name: '0010_replies', sql: replies },
  { name: '0011_forwarded_mail', sql: forwardedMail },
  { name: '0012_saved_views', sql: savedViews },
  { name: '0013_mailboxes', sql: mailboxes },
  { name: '0014_take_up', sql: takeUp },
  { name: '0015_asset_bodies', sql: assetBodies },
  { name: '0016_sent_message_ids', sql: sentMessageIds },
  { name: '0017_languages_of_members', sql: languagesOfMembers },
  { name: '0018_saved_views_at_once', sql: savedViewsAtOnce },
  { name: '0019_editor_drafts', sql: editorDrafts },
  { name: '0020_deleted_images', sql: deletedImages },
  { name: '0021_body_store_place', sql: bodyStorePlace },
  { name: '0022_brand_font', sql: brandFont },
  { name: '0023_replica_identities', sql: replicaIdentities },
  { name: '0024_forgotten_leavings', sql: forgottenLeavings },
  { name: '0025_acts_beside_reasons', sql: actsBesideReasons },
  { name: '0026_limit_api_keys', sql: limitApiKeys },
  { name: '0027_invitations_at_once', sql: invitationsAtOnce },
];
