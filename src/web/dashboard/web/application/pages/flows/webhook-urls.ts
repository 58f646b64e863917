import type { FlowDefinition, FlowStep } from '../../../../../../../machines/flow-run/definition.ts';

type Steps = FlowDefinition['steps'];

/** The place of a URL in a draft. */
const LEFT_OUT = '';

const withUrls = (steps: Steps, urlOf: (step: FlowStep & { readonly type: 'webhook' }) => string): Steps =>
  steps.map((step) =>
    step.type === 'webhook' ? { ...step, config: { ...step.config, url: urlOf(step) } } : step,
  );

/** Steps as this browser may keep them: the URL of a webhook may hold a token. */
export const withoutWebhookUrls = (steps: Steps): Steps => withUrls(steps, () => LEFT_OUT);

/** Kept steps with the URLs of the stored flow. A step that it does not have needs its URL typed again. */
export function withWebhookUrls(steps: Steps, stored: Steps): Steps {
  const urls = new Map(
    stored.flatMap(({ key, type, config }) => (type === 'webhook' ? [[key, config.url]] : [])),
  );
  return withUrls(steps, ({ key }) => urls.get(key) ?? LEFT_OUT);
}
