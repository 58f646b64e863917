import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Link } from 'wouter';

type Look = 'plain' | 'main' | 'danger' | 'quiet';
const LOOKS = {
  plain: 'button',
  main: 'button button-main',
  danger: 'button button-danger',
  quiet: 'button button-quiet',
} as const satisfies Record<Look, string>;

interface Shape {
  readonly look?: Look;
  /** True while its action runs: the button keeps the focus, and a second press does nothing. */
  readonly busy?: boolean;
}

/** A button. One that may not be pressed says why in its title, or is not there at all. */
export const Button = ({
  look = 'plain',
  busy = false,
  className = '',
  onClick,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & Shape) => (
  <button
    type="button"
    {...rest}
    aria-disabled={busy || rest['aria-disabled']}
    onClick={busy ? undefined : onClick}
    className={`${LOOKS[look]} ${className}`}
  />
);

/** A link that looks like a button. */
export const ButtonLink = ({
  to,
  look = 'plain',
  children,
  ...rest
}: {
  readonly to: string;
  readonly look?: Look;
  /** The key `c` follows it. */
  readonly 'data-create'?: boolean;
  readonly children: ReactNode;
}) => (
  <Link href={to} className={LOOKS[look]} {...rest}>
    {children}
  </Link>
);

/** A button that is a picture; its label is read out and shown beside the pointer. */
export const IconButton = ({
  label,
  className = '',
  ...rest
}: { readonly label: string } & ButtonHTMLAttributes<HTMLButtonElement>) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    {...rest}
    className={`grid size-8 shrink-0 place-items-center rounded-md text-dim hover:bg-hover hover:text-ink ${className}`}
  />
);

/**
 * A link that looks like a button and saves a file; `name` is the file's name unless the service sends one.
 */
export const Download = ({
  href,
  name,
  children,
}: {
  readonly href: string;
  readonly name: string;
  readonly children: ReactNode;
}) => (
  <a href={href} download={name} className="button">
    {children}
  </a>
);
