/** A change of one file of a project. */
export interface Change {
  /** Path from the folder of the project. */
  readonly file: string
  /** `undefined` where the file is new. */
  readonly before: string | undefined
  readonly after: string
}

/** How the lines of a text end. */
export function lineEnd(text: string): '\r\n' | '\n' {
  return /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n'
}
