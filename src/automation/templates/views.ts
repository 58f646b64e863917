import type { UsedBy } from './layers/layer-model.ts';
import {
  detailsOf,
  type TemplateItemView,
  type TemplateView,
  type VersionItemView,
  type VersionView,
} from './model.ts';
import type { StoredContent } from './render/content.ts';
import type { ListedContent, ListedVersion, TemplateRow, VersionRow } from './store.ts';

const iso = (at: number): string => new Date(at).toISOString();

const listed = ({
  format,
  subject,
  previewText,
  from,
  replyTo,
  variables,
  layoutId,
  language,
  languages,
}: ListedContent): ListedContent => ({
  format,
  subject,
  previewText,
  from,
  replyTo,
  variables,
  layoutId,
  language,
  languages,
});

/** The members that lists show. */
const withLanguages = (content: StoredContent): ListedContent => ({
  ...content,
  languages: Object.keys(content.translations),
});

export const itemOf = (row: TemplateRow, livemode: boolean, content: ListedContent): TemplateItemView => ({
  id: row.id,
  livemode,
  ...detailsOf(row),
  kind: row.kind,
  ...listed(content),
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
  const { html, markdown, mjml, text, translations } = content;
  const layers = [...(content.layered?.layers ?? [])];
  return {
    ...itemOf(row, livemode, withLanguages(content)),
    version,
    html,
    markdown,
    mjml,
    text,
    translations,
    layers,
    usedBy,
  };
};

const UNUSED: UsedBy = { count: 0, templates: [] };

export const versionItemOf = (
  row: TemplateRow,
  { version, content, createdAt }: ListedVersion,
): VersionItemView => ({
  templateId: row.id,
  version,
  isCurrent: version === row.version,
  ...listed(content),
  createdAt: createdAt.toISOString(),
});

/** A version with its bodies. */
export const versionOf = (row: TemplateRow, version: VersionRow): VersionView => {
  const { html, markdown, mjml, text, translations, layered } = version.content;
  const layers = [...(layered?.layers ?? [])];
  const listedVersion = { ...version, content: withLanguages(version.content) };
  return { ...versionItemOf(row, listedVersion), html, markdown, mjml, text, translations, layers };
};
