import type { UsedBy } from './layers/layer-model.ts';
import {
  detailsOf,
  type TemplateItemView,
  type TemplateView,
  type VersionItemView,
  type VersionView,
} from './model.ts';
import { authoredOf, type StoredContent, type VersionContent } from './render/content.ts';
import type { TemplateRow, VersionRow } from './store.ts';

const iso = (at: number): string => new Date(at).toISOString();

const withoutBodies = ({
  html: _html,
  markdown: _markdown,
  mjml: _mjml,
  text: _text,
  ...rest
}: VersionContent) => rest;

/** A template in a list. */
export const itemOf = (row: TemplateRow, livemode: boolean, content: VersionContent): TemplateItemView => ({
  id: row.id,
  livemode,
  ...detailsOf(row),
  kind: row.kind,
  ...withoutBodies(authoredOf(content)),
  version: row.version,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** A template with the bodies of one version. */
export const viewOf = (
  row: TemplateRow,
  livemode: boolean,
  content: StoredContent,
  { usedBy = UNUSED, version = row.version }: { readonly usedBy?: UsedBy; readonly version?: number } = {},
): TemplateView => {
  const { html, markdown, mjml, text } = content;
  const layers = [...(content.layered?.layers ?? [])];
  return { ...itemOf(row, livemode, content), version, html, markdown, mjml, text, layers, usedBy };
};

const UNUSED: UsedBy = { count: 0, templates: [] };

/** A version in a list. */
export const versionItemOf = (
  row: TemplateRow,
  { version, content, createdAt }: VersionRow,
): VersionItemView => ({
  templateId: row.id,
  version,
  isCurrent: version === row.version,
  ...withoutBodies(authoredOf(content)),
  createdAt: createdAt.toISOString(),
});

/** A version with its bodies. */
export const versionOf = (row: TemplateRow, version: VersionRow): VersionView => {
  const { html, markdown, mjml, text, layered } = version.content;
  return { ...versionItemOf(row, version), html, markdown, mjml, text, layers: [...(layered?.layers ?? [])] };
};
