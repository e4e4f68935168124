/** Pieces of text that several commands print. */

const WEI_PER_COIN = 10n ** 18n

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

/** A count and what it counts. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
