import type { ReactNode } from 'react';

interface Shape {
  readonly className?: string;
}

/** The post horn. */
export const Mark = ({ className = 'size-6' }: Shape) => (
  <svg viewBox="0 0 32 32" className={className} aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#0f766e" />
    <g fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round">
      <circle cx="13.5" cy="16.5" r="5.4" />
      <path d="M13.5 11.1H23c2 0 3.2-1.4 4-3.1v9.4c-.8-1.7-2-3-4-3h-4.2M8.1 16.5H5" />
    </g>
  </svg>
);

const Icon = ({ className = 'size-4', children }: Shape & { readonly children: ReactNode }) => (
  <svg
    viewBox="0 0 16 16"
    className={className}
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
);

export const Search = (shape: Shape) => (
  <Icon {...shape}>
    <path d="m13.5 13.5-3-3M12 7A5 5 0 1 1 2 7a5 5 0 0 1 10 0Z" />
  </Icon>
);
export const Close = (shape: Shape) => (
  <Icon {...shape}>
    <path d="m4 4 8 8m0-8-8 8" />
  </Icon>
);
export const Play = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M5 3.2v9.6l7.6-4.8L5 3.2Z" fill="currentColor" />
  </Icon>
);
export const Pause = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M5.5 3.5v9m5-9v9" strokeWidth="2.2" />
  </Icon>
);
export const Back = (shape: Shape) => (
  <Icon {...shape}>
    <path d="m9.8 3.5-4.5 4.5 4.5 4.5" />
  </Icon>
);
export const Forward = (shape: Shape) => (
  <Icon {...shape}>
    <path d="m6.2 3.5 4.5 4.5-4.5 4.5" />
  </Icon>
);
export const Copy = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8v-8Z" />
  </Icon>
);
export const Check = (shape: Shape) => (
  <Icon {...shape}>
    <path d="m3 8.5 3.2 3.2L13 4.8" />
  </Icon>
);
export const Clock = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M8 4.8V8l2.2 1.4M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z" />
  </Icon>
);
export const Again = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5V5h-2.5" />
  </Icon>
);
export const Stay = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M3 8h7M8 5.5 10.5 8 8 10.5M13.5 3v10" />
  </Icon>
);
export const Sun = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM8 1.5v1.2m0 10.6v1.2M1.5 8h1.2m10.6 0h1.2M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9" />
  </Icon>
);
export const Moon = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1Z" />
  </Icon>
);
export const System = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M2 3h12v8H2V3Zm4 10.5h4M8 11v2.5" />
  </Icon>
);
export const Leave = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M6.5 13.5h-4v-11h4M10 11l3-3-3-3m3 3H6" />
  </Icon>
);
export const Keys = (shape: Shape) => (
  <Icon {...shape}>
    <path d="M1.8 4h12.4v8H1.8V4Zm2.7 2.6h.1m2.3 0h.1m2.3 0h.1m1.9 0h.1M5 9.4h6" />
  </Icon>
);
