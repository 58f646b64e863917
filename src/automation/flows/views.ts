import type { FlowDefinition } from '../../../machines/flow-run/definition.ts';
import { isoOrNull } from '../../platform/time/clock.ts';
import type { FlowVersionView, FlowView } from './definition/model.ts';
import type { FlowRow, VersionRow } from './store.ts';

type DefinitionView = Omit<FlowVersionView, 'version' | 'createdAt' | 'publishedAt'>;

const definitionOf = (definition: FlowDefinition): DefinitionView => definition as unknown as DefinitionView;

const iso = (at: number): string => new Date(at).toISOString();

/** A flow as it is answered. */
export const flowOf = (row: FlowRow, definition: FlowDefinition, stats: FlowView['stats']): FlowView => ({
  id: row.id,
  livemode: row.livemode,
  name: row.name,
  status: row.status,
  ...definitionOf(definition),
  version: row.version,
  publishedVersion: row.published_version,
  stats,
  behindSince: isoOrNull(row.behind_since),
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** A version as it is answered. */
export const versionOf = ({
  version,
  definition,
  created_at,
  published_at,
}: VersionRow): FlowVersionView => ({
  version,
  ...definitionOf(definition),
  createdAt: iso(created_at),
  publishedAt: isoOrNull(published_at),
});
