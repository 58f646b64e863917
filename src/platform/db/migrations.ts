// Made of the files in drizzle/ by scripts/migrations.ts: run `bun run generate` after adding one.
import schema from '../../../drizzle/0000_schema.sql' with { type: 'text' };
import templates from '../../../drizzle/0001_templates.sql' with { type: 'text' };
import contacts from '../../../drizzle/0002_contacts.sql' with { type: 'text' };
import imports from '../../../drizzle/0003_imports.sql' with { type: 'text' };
import audiences from '../../../drizzle/0004_audiences.sql' with { type: 'text' };
import members from '../../../drizzle/0005_members.sql' with { type: 'text' };
import billing from '../../../drizzle/0006_billing.sql' with { type: 'text' };
import analytics from '../../../drizzle/0007_analytics.sql' with { type: 'text' };
import campaigns from '../../../drizzle/0008_campaigns.sql' with { type: 'text' };
import flows from '../../../drizzle/0009_flows.sql' with { type: 'text' };
import serviceEmails from '../../../drizzle/0010_service_emails.sql' with { type: 'text' };
import flowTallies from '../../../drizzle/0011_flow_tallies.sql' with { type: 'text' };
import serviceWarnings from '../../../drizzle/0012_service_warnings.sql' with { type: 'text' };
import confirmations from '../../../drizzle/0013_confirmations.sql' with { type: 'text' };
import hoursAndMakers from '../../../drizzle/0014_hours_and_makers.sql' with { type: 'text' };
import earlyVisits from '../../../drizzle/0015_early_visits.sql' with { type: 'text' };
import flowRunIndexes from '../../../drizzle/0016_flow_run_indexes.sql' with { type: 'text' };
import contactSearches from '../../../drizzle/0017_contact_searches.sql' with { type: 'text' };
import flowLaggards from '../../../drizzle/0018_flow_laggards.sql' with { type: 'text' };
import limitsAtOnce from '../../../drizzle/0019_limits_at_once.sql' with { type: 'text' };
import retention from '../../../drizzle/0020_retention.sql' with { type: 'text' };
import requestIds from '../../../drizzle/0021_request_ids.sql' with { type: 'text' };
import domainFallbacks from '../../../drizzle/0022_domain_fallbacks.sql' with { type: 'text' };
import serviceInstances from '../../../drizzle/0023_service_instances.sql' with { type: 'text' };
import acmeCertificates from '../../../drizzle/0027_acme_certificates.sql' with { type: 'text' };
import testClocks from '../../../drizzle/0028_test_clocks.sql' with { type: 'text' };
import clockedFlows from '../../../drizzle/0029_clocked_flows.sql' with { type: 'text' };
import formerSecretKeys from '../../../drizzle/0030_former_secret_keys.sql' with { type: 'text' };
import warmUps from '../../../drizzle/0031_warm_ups.sql' with { type: 'text' };
import bodies from '../../../drizzle/0032_bodies.sql' with { type: 'text' };
import viewsByWorkspace from '../../../drizzle/0033_views_by_workspace.sql' with { type: 'text' };
import liveNews from '../../../drizzle/0034_live_news.sql' with { type: 'text' };
import bulkLane from '../../../drizzle/0036_bulk_lane.sql' with { type: 'text' };
import refusedRuns from '../../../drizzle/0037_refused_runs.sql' with { type: 'text' };
import packedCaptures from '../../../drizzle/0038_packed_captures.sql' with { type: 'text' };
import attemptsByWorkspace from '../../../drizzle/0039_attempts_by_workspace.sql' with { type: 'text' };
import queuedByWorkspace from '../../../drizzle/0043_queued_by_workspace.sql' with { type: 'text' };
import leanContexts from '../../../drizzle/0045_lean_contexts.sql' with { type: 'text' };
import keptDeliveries from '../../../drizzle/0046_kept_deliveries.sql' with { type: 'text' };
import dueAscending from '../../../drizzle/0047_due_ascending.sql' with { type: 'text' };
import doubtsAndErasures from '../../../drizzle/0048_doubts_and_erasures.sql' with { type: 'text' };
import importStatuses from '../../../drizzle/0050_import_statuses.sql' with { type: 'text' };
import learnedLimits from '../../../drizzle/0053_learned_limits.sql' with { type: 'text' };
import workspaceChanges from '../../../drizzle/0059_workspace_changes.sql' with { type: 'text' };
import membershipsUnderLock from '../../../drizzle/0060_memberships_under_lock.sql' with { type: 'text' };
import messageIdsAndReports from '../../../drizzle/0062_message_ids_and_reports.sql' with { type: 'text' };

/** One step of the schema. Never changed once released: its hash is compared at every start. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** All of them, oldest first; carried inside the executable. */
// biome-ignore format: generated
export const migrations: readonly Migration[] = [
  { name: '0000_schema', sql: schema },
  { name: '0001_templates', sql: templates },
  { name: '0002_contacts', sql: contacts },
  { name: '0003_imports', sql: imports },
  { name: '0004_audiences', sql: audiences },
  { name: '0005_members', sql: members },
  { name: '0006_billing', sql: billing },
  { name: '0007_analytics', sql: analytics },
  { name: '0008_campaigns', sql: campaigns },
  { name: '0009_flows', sql: flows },
  { name: '0010_service_emails', sql: serviceEmails },
  { name: '0011_flow_tallies', sql: flowTallies },
  { name: '0012_service_warnings', sql: serviceWarnings },
  { name: '0013_confirmations', sql: confirmations },
  { name: '0014_hours_and_makers', sql: hoursAndMakers },
  { name: '0015_early_visits', sql: earlyVisits },
  { name: '0016_flow_run_indexes', sql: flowRunIndexes },
  { name: '0017_contact_searches', sql: contactSearches },
  { name: '0018_flow_laggards', sql: flowLaggards },
  { name: '0019_limits_at_once', sql: limitsAtOnce },
  { name: '0020_retention', sql: retention },
  { name: '0021_request_ids', sql: requestIds },
  { name: '0022_domain_fallbacks', sql: domainFallbacks },
  { name: '0023_service_instances', sql: serviceInstances },
  { name: '0027_acme_certificates', sql: acmeCertificates },
  { name: '0028_test_clocks', sql: testClocks },
  { name: '0029_clocked_flows', sql: clockedFlows },
  { name: '0030_former_secret_keys', sql: formerSecretKeys },
  { name: '0031_warm_ups', sql: warmUps },
  { name: '0032_bodies', sql: bodies },
  { name: '0033_views_by_workspace', sql: viewsByWorkspace },
  { name: '0034_live_news', sql: liveNews },
  { name: '0036_bulk_lane', sql: bulkLane },
  { name: '0037_refused_runs', sql: refusedRuns },
  { name: '0038_packed_captures', sql: packedCaptures },
  { name: '0039_attempts_by_workspace', sql: attemptsByWorkspace },
  { name: '0043_queued_by_workspace', sql: queuedByWorkspace },
  { name: '0045_lean_contexts', sql: leanContexts },
  { name: '0046_kept_deliveries', sql: keptDeliveries },
  { name: '0047_due_ascending', sql: dueAscending },
  { name: '0048_doubts_and_erasures', sql: doubtsAndErasures },
  { name: '0050_import_statuses', sql: importStatuses },
  { name: '0053_learned_limits', sql: learnedLimits },
  { name: '0059_workspace_changes', sql: workspaceChanges },
  { name: '0060_memberships_under_lock', sql: membershipsUnderLock },
  { name: '0062_message_ids_and_reports', sql: messageIdsAndReports },
];
