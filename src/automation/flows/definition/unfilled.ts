import type { FlowStep } from '../../../../machines/flow-run/definition.ts';
import type { Detail } from '../../../platform/errors/failure.ts';
import { pointerSegment } from '../../../platform/errors/schema-errors.ts';

const IS_LIQUID = /\{[{%]/;
/** A variable is data, and may hold braces; one that names what a template sees was meant to be filled in. */
const NAMES_DATA = /\{[{%][^{}%]*\b(?:(?:contact|workspace|event)\.|unsubscribeUrl\b)/;

const OF_SENDING =
  'Is sent as it is: Liquid is filled in by the template alone, which sees contact, workspace and event. Write it there.';
const OF_CHANGING = 'Is stored as it is: Liquid is not filled in here.';

/**
 * The texts of a step that hold Liquid, which nothing fills in: the braces would reach the reader. A
 * campaign's subject is Liquid, and so authors expect it of a step's.
 */
export function unfilledTexts(step: FlowStep, at: string): readonly Detail[] {
  switch (step.type) {
    case 'sendEmail': {
      const { subject, from, variables } = step.config;
      const paths = [...textsIn({ subject, from }, at), ...textsIn({ variables }, at, NAMES_DATA)];
      return paths.map((path) => ({ path, message: OF_SENDING }));
    }
    case 'updateContact':
      return textsIn(step.config, at).map((path) => ({ path, message: OF_CHANGING }));
    default:
      return [];
  }
}

/** The places of all texts with Liquid in a value; their number is bounded by the size of a flow. */
function textsIn(value: unknown, path: string, pattern = IS_LIQUID): readonly string[] {
  if (typeof value === 'string') return pattern.test(value) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    textsIn(member, path + pointerSegment(name), pattern),
  );
}
