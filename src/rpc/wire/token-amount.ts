/** Amounts of assets as people write them. */

/** Decimal places of the native coin. */
export const COIN_DECIMALS = 18

/** An amount in units of 10^-decimals as a decimal number without zeros at its end: 1500000 with 6 is `1.5`. */
export function tokenAmount(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
}
