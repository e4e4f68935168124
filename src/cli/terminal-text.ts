/** Pieces of text that several commands print. */

/** Wei of a coin. */
export const WEI_PER_COIN = 10n ** 18n

/** Text without control characters, with which a caller's text could change the terminal. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to keep out
  return text.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ')
}

/** Wei as coins, without trailing zeros. */
export function coins(wei: bigint): string {
  const whole = wei / WEI_PER_COIN
  const rest = (wei % WEI_PER_COIN).toString().padStart(18, '0').replace(/0+$/, '')
  return rest === '' ? `${whole}` : `${whole}.${rest}`
}

/**
 * Rows of cells as lines of text. Columns are as wide as their widest cell, up to `widest`; a wider cell pushes the rest
 * of its line. The last column, without a width, is not padded.
 */
export function columnLines(rows: readonly (readonly string[])[], widest: readonly number[]): string[] {
  const widths = widest.map((most, column) =>
    Math.min(most, Math.max(0, ...rows.map((cells) => cells[column]?.length ?? 0))),
  )
  return rows.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}
