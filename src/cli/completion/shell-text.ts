/** Pieces of the languages of bash and zsh, which are the same in both. */

/** A word in single quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The body of a `case` on a path of commands. */
export function cases(
  groups: readonly { readonly paths: readonly string[]; readonly part: string }[],
): string {
  return groups.map(({ paths, part }) => `    ${paths.map(quoted).join('|')}) ${part} ;;`).join('\n')
}
