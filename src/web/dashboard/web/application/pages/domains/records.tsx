import type { DnsRecord } from '../../../../../client/operations.ts';
import { Badge } from '../../ui/display/badge.tsx';
import { CopyButton } from '../../ui/display/copy-button.tsx';
import { Field } from '../../ui/forms/form.tsx';
import { PURPOSES, RECORD_TONES } from './states.ts';

/** The records of a domain: what is wanted, ready to be copied, and what was found instead. */
export const Records = ({
  records,
  isLookedUp = true,
}: {
  readonly records: readonly DnsRecord[];
  /** False where captured email needs no records, and none were looked up. */
  readonly isLookedUp?: boolean;
}) => (
  <ul className="grid gap-3">
    {records.map((record) => (
      <li
        key={`${record.type} ${record.name} ${record.value}`}
        className="grid gap-2.5 rounded-lg border border-edge p-3.5"
      >
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <strong className="font-semibold">{PURPOSES[record.purpose]}</strong>
          <span className="kbd">{record.type}</span>
          {!record.required && <span className="text-caption text-dim">recommended</span>}
          <span className="ml-auto">
            <Badge status={record.status} tone={isLookedUp ? RECORD_TONES[record.status] : 'quiet'}>
              {!isLookedUp
                ? 'Not looked up'
                : record.status === 'verified'
                  ? 'Found'
                  : !record.settable
                    ? 'Needs a setting'
                    : record.status === 'pending'
                      ? 'Not found yet'
                      : 'Wrong'}
            </Badge>
          </span>
        </p>
        {record.settable ? (
          <dl className="grid gap-1.5">
            <Line name="Name" value={record.name} />
            <Line name="Value" value={record.value} />
            {record.priority !== null && <Line name="Priority" value={String(record.priority)} />}
          </dl>
        ) : (
          <p data-color="waiting" className="state-text text-caption break-words">
            Do not set it yet. {record.error}
          </p>
        )}
        {record.settable && isLookedUp && record.status === 'verified' && record.error !== null && (
          <p data-color="waiting" className="state-text text-caption break-words">
            {record.error}
          </p>
        )}
        {record.settable && record.status === 'failed' && (
          <p data-color="bad" className="state-text text-caption break-words">
            {record.error ?? 'Another value was found.'}
            {record.found.length > 0 && ` Found: ${record.found.join(' · ')}`}
          </p>
        )}
      </li>
    ))}
  </ul>
);

const Line = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div className="grid grid-cols-[4rem_minmax(0,1fr)_2rem] items-center gap-2 not-sm:grid-cols-[minmax(0,1fr)_2rem]">
    <dt className="text-caption text-dim not-sm:col-span-2">{name}</dt>
    <dd className="rounded-md bg-sunk px-2 py-1.5 font-mono text-caption break-all">{value}</dd>
    <dd>
      <CopyButton label={`${name} ${value.slice(0, 40)}`} text={value} />
    </dd>
  </div>
);

/** The name of a new domain. */
export const DomainNameField = () => (
  <Field
    label="Domain"
    name="name"
    inputMode="url"
    placeholder="mail.acme.example"
    hint="A subdomain for email, such as mail.acme.example, keeps its reputation separate from your main domain."
  />
);
