/** A group of endpoints in the documentation: those whose path has its segment after the version. */
export interface Tag {
  readonly segment: string;
  readonly name: string;
  readonly description: string;
}
