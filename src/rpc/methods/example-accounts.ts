/** The accounts of a fresh local chain as the examples of methods name them, and an address that has none there. */

/**
 * In the order of `eth_accounts`: the accounts derived from the texts `cow`, `cow1` to `cow9`, then the miner's
 * (docs/internals/rpc-reference.md#9-local-chain).
 */
export const LOCAL_ACCOUNTS = [
  '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826',
  '0x7986b3df570230288501eea3d890bd66948c9b79',
  '0x0a3aa774752ec2042c46548456c094a76c7f3a79',
  '0xcf7cdbbb5f7ba79d3ffe74a0bba13fc0295f6036',
  '0x39b12c05e8503356e3a7df0b7b33efa4c054c409',
  '0xc354d97642faa06781b76ffb6786f72cd7746c97',
  '0xdebe71e1de41fc77c44df4b6db940026e31b0e71',
  '0x7857288e171c6159c5576d1bd9ac40c0c48a771c',
  '0xa4dea4d5c954f5fd9e87f0e9752911e83a3d18b3',
  '0x09a1eda29f664ac8f68106f6567276df0c65d859',
  '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d',
] as const

/** The first two accounts. */
export const [COW, COW1] = LOCAL_ACCOUNTS

/** An address without an account. */
export const NOBODY = '0x00000000000000000000000000000000000dead1'
