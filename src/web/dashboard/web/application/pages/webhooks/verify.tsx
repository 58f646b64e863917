import { useState } from 'react';
import receiving from '../../../../../docs/texts/receivers.md' with { type: 'text' };
import { Copyable } from '../../ui/display/copyable.tsx';
import { Chips } from '../../ui/forms/chips.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';

/** The programs of the guide by their languages: what is copied here is what is explained, and tested, there. */
const SNIPPETS: ReadonlyMap<string, string> = new Map(
  [...receiving.matchAll(/^### ([^\n]+)\n\n```\w+\n(.*?)\n```/gms)].map(([, language = '', code = '']) => [
    language,
    code,
  ]),
);
const [FIRST = ''] = SNIPPETS.keys();

/** How a program finds out that a request really comes from here. */
export default function Verify({ onClose }: { readonly onClose: () => void }) {
  const [language, setLanguage] = useState(FIRST);
  return (
    <Dialog title="Check the signature" onClose={onClose} width="max-w-2xl">
      <p className="text-dim">
        Each request says in <code className="font-mono text-caption">X-Svc-Signature</code> when it was
        signed, and proves with the secret of the endpoint that it comes from here. Check it over the body as
        it arrived, before you parse it.{' '}
        <a href="/docs/webhooks" className="link">
          The guide
        </a>{' '}
        has a signed request to try your code on.
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
