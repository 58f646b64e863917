import { Link } from 'wouter';
import type { StepConfigs, StepType } from '../../../../../../../../machines/flow-run/definition.ts';
import { CONTACT_FIELD_NAMES, CONTACT_FIELDS } from '../../../../../../../platform/text/contact-fields.ts';
import { Field, TextArea } from '../../../ui/forms/form.tsx';
import { DECIDING_FORMS } from './deciding-forms.tsx';
import { linesOf, valuesIn } from './dictionary.ts';
import { given, Named, type StepForm } from './form-parts.tsx';
import { TIME_FORMS } from './time-forms.tsx';

const audienceForm: StepForm<StepConfigs['addToAudience']> = {
  fields: ({ config, names }) => (
    <Named
      label="Audience"
      name="audienceId"
      value={config.audienceId}
      options={names.audiences}
      none="Select a static audience"
      hint="A static audience. A dynamic one fills by its filter."
    />
  ),
  read: ({ audienceId = '' }) => ({ audienceId }),
};

/** A field of a contact in a step that changes it: left alone, or set. */
const fieldText = (text: string | undefined, before: string | null | undefined) =>
  given(text) ?? (before === null ? null : undefined);

/** The form of every type of step. */
export const FORMS: { readonly [Type in StepType]: StepForm<StepConfigs[Type]> } = {
  ...TIME_FORMS,
  ...DECIDING_FORMS,
  sendEmail: {
    fields: ({ config, names }) => (
      <>
        <Named
          label="Template"
          name="templateId"
          value={config.templateId}
          options={names.templates}
          none="Select a template"
          hint={
            config.templateId in names.templates ? (
              <Link href={`/templates/${config.templateId}`} className="link">
                Open template
              </Link>
            ) : (
              'The version published when the step runs is sent.'
            )
          }
        />
        <Field
          label="Subject"
          name="subject"
          defaultValue={config.subject ?? ''}
          hint="Replaces the template's subject."
        />
        <Field
          label="From"
          name="from"
          defaultValue={config.from ?? ''}
          placeholder="Acme <hello@acme.com>"
          hint="Replaces the sender of the template or the workspace."
        />
        <TextArea
          label="Variables"
          name="variables"
          rows={3}
          defaultValue={linesOf(config.variables ?? {})}
          placeholder="plan = pro"
          hint="One per line: name = value."
        />
      </>
    ),
    read: ({ templateId = '', subject, from, variables = '' }) => ({
      templateId,
      ...(given(subject) !== undefined && { subject: given(subject) as string }),
      ...(given(from) !== undefined && { from: given(from) as string }),
      ...(variables.trim() !== '' && { variables: valuesIn(variables) }),
    }),
  },
  updateContact: {
    fields: ({ config }) => (
      <>
        {CONTACT_FIELD_NAMES.map((name) => (
          <Field
            key={name}
            label={CONTACT_FIELDS[name].label}
            name={name}
            defaultValue={config[name] ?? ''}
            hint="Empty: unchanged."
          />
        ))}
        <TextArea
          label="Properties"
          name="properties"
          defaultValue={linesOf(config.properties ?? {})}
          placeholder={'plan = pro\nisCustomer = true'}
          hint="One per line: name = value. The value null removes a property."
        />
      </>
    ),
    read: ({ properties = '', ...texts }, before) => ({
      ...Object.fromEntries(
        CONTACT_FIELD_NAMES.flatMap((name) => {
          const text = fieldText(texts[name], before[name]);
          return text === undefined ? [] : [[name, text]];
        }),
      ),
      ...(properties.trim() !== '' && { properties: valuesIn(properties) }),
    }),
  },
  addToAudience: audienceForm,
  removeFromAudience: audienceForm,
  webhook: {
    fields: ({ config }) => (
      <Field
        label="URL"
        name="url"
        defaultValue={config.url}
        placeholder="https://example.com/hooks"
        hint="The service posts the run and the contact, signed with the webhook secret of flows, and retries like other webhooks."
      />
    ),
    read: ({ url = '' }) => ({ url: url.trim() }),
  },
  exit: {
    fields: ({ config }) => (
      <Field
        label="Reason"
        name="reason"
        defaultValue={config.reason ?? ''}
        hint="The reason that the run shows. Empty: the key of the step."
      />
    ),
    read: ({ reason }) => {
      const text = given(reason);
      return text === undefined ? {} : { reason: text };
    },
  },
};
