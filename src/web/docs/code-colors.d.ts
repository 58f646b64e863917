/** Marks the parts of code with classes, as escaped HTML; null for a language that has no grammar here. */
export function colored(code: string, language: string): string | null;
