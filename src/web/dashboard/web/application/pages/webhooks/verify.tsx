import { useState } from 'react';
import receiving from '../../../../../docs/texts/receivers.md' with { type: 'text' };
import { Copyable } from '../../ui/display/copyable.tsx';
import { Chips } from '../../ui/forms/chips.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';

/**
 * The programs of the guide by their languages: what is copied here is what is explained, and tested, there.
 */
const SNIPPETS: ReadonlyMap<string, string> = new Map(
  [...receiving.matchAll(/^### ([^\n]+)\n\n```\w+\n(.*?)\n```/gms)].map(([, language = '', code = '']) => [
    language,
    code,
  ]),
);
const [FIRST = ''] = SNIPPETS.keys();

/** Code samples for checking that a request comes from this service. */
export default function Verify({ onClose }: { readonly onClose: () => void }) {
  const [language, setLanguage] = useState(FIRST);
  return (
    <Dialog title="Verify signatures" onClose={onClose} width="max-w-2xl">
      <p className="text-dim">
        The header <code className="font-mono text-caption">X-Svc-Signature</code> of each request holds its
        time and a signature made with the endpoint's secret. Check it against the raw body before you parse
        it.{' '}
        <a href="/docs/webhooks" className="link">
          The guide
        </a>{' '}
        has a signed request for testing your code.
      </p>
      <Chips
        label="Language"
        options={Object.fromEntries([...SNIPPETS.keys()].map((each) => [each, each]))}
        value={language}
        onChange={setLanguage}
      />
      <Copyable label={language} text={SNIPPETS.get(language) ?? ''} />
    </Dialog>
  );
}
