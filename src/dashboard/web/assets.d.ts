/** A guide as text. */
declare module '*.md' {
  const text: string;
  export default text;
}
/** A style sheet as text, for a sheet that a page adds when it is opened. */
declare module '*.css' {
  const text: string;
  export default text;
}
