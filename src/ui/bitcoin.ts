/** Bitcoin as the node's methods describe it: checks, amounts, words. */
import { type Checked, isFlag, isNumber, isOneOf, isText, listOf, objectOf, orNull } from './checks.ts'
import { counted, type Hex, isHex, units } from './format.ts'
import type { Log } from './model.ts'

const DECIMALS = 8

/** Satoshi as bitcoins. */
export function bitcoins(satoshi: number): string {
  return `${units(BigInt(satoshi), DECIMALS)} BTC`
}

/** Satoshi of an amount such as 0.5. Throws an Error for another text. */
export function satoshiOf(amount: string): number {
  const [, whole, fraction = ''] = /^(\d{1,8})(?:\.(\d{1,8}))?$/.exec(amount.trim()) ?? []
  if (whole === undefined) throw new Error('Expected an amount such as 0.5')
  return Number(whole + fraction.padEnd(DECIMALS, '0'))
}

const PARTY = {
  kind: isText,
  address: orNull(isText),
  federation: orNull(isOneOf('active', 'retiring', 'proposed')),
}
const isParty = objectOf(PARTY)
export type Party = Checked<typeof isParty>

const isMeaning = objectOf({
  kind: isText,
  status: isText,
  satoshi: isNumber,
  transaction: orNull(isHex),
  requests: listOf(isHex),
  reason: orNull(isText),
  confirmations: orNull(isNumber),
  needed: orNull(isNumber),
  missing: orNull(isNumber),
})
export type Meaning = Checked<typeof isMeaning>

/** `btc_transaction`. */
export const isBitcoinTransaction = objectOf({
  bitcoinTransaction: isText,
  block: orNull(objectOf({ hash: isText, height: isNumber, timestamp: isNumber })),
  confirmations: orNull(isNumber),
  isCoinbase: isFlag,
  version: isNumber,
  lockTime: isNumber,
  size: isNumber,
  virtualSize: isNumber,
  fee: orNull(isNumber),
  inputs: listOf(
    objectOf({
      bitcoinTransaction: orNull(isText),
      index: isNumber,
      coin: orNull(objectOf({ ...PARTY, satoshi: isNumber })),
      reveals: orNull(objectOf({ required: isNumber, keys: isNumber, hasEmergency: isFlag })),
    }),
  ),
  outputs: listOf(objectOf({ ...PARTY, satoshi: isNumber, script: isHex, receiver: orNull(isHex) })),
  peg: orNull(isMeaning),
})
export type BitcoinTransaction = Checked<typeof isBitcoinTransaction>

/** Bitcoin Core's names of scripts in words. */
const KINDS: Readonly<Record<string, string>> = {
  pubkey: 'public key',
  pubkeyhash: 'public key hash',
  scripthash: 'script hash',
  multisig: 'several keys',
  nulldata: 'data',
  witness_v0_keyhash: 'witness key hash',
  witness_v0_scripthash: 'witness script hash',
  witness_v1_taproot: 'taproot',
  witness_unknown: 'unknown witness',
  nonstandard: 'nonstandard',
}

/** The kind of a script in words. */
export function kindText(kind: string): string {
  return KINDS[kind] ?? kind
}

const MEANINGS: Readonly<Record<string, string>> = {
  pegIn: 'Peg-in',
  pegOut: 'Peg-out',
  refund: 'Refund of a peg-in',
  migration: 'Migration to the next federation',
  svpFund: 'Validation of a federation: funds it',
  svpSpend: 'Validation of a federation: it spends',
}

/** What a transaction is to the peg. */
export function meaningText(kind: string): string {
  return MEANINGS[kind] ?? kind
}

const STATES: Readonly<Record<string, string>> = {
  waiting: 'Waits for confirmations',
  ignored: 'Ignored',
  registered: 'Registered',
  refunded: 'Rejected and refunded',
  lost: 'Rejected',
  released: 'Signed and released',
}

/** Where it is: its state, and what it lacks or why it was rejected. */
export function stateText(meaning: Pick<Meaning, 'status' | 'reason'> & Partial<Meaning>): string {
  const { status, reason, confirmations, needed, missing } = meaning
  if (status === 'confirming') return `Block ${confirmations ?? 0} of ${needed ?? 0}`
  if (status === 'signing') return `Lacks ${counted(missing ?? 0, 'signature')}`
  const state = STATES[status] ?? status
  return reason === null ? state : `${state}: ${reason}`
}

const BRIDGE = '0x0000000000000000000000000000000001000006'

/** The topic of a log of the Bridge that is the hash of a Bitcoin transaction, by its first topic. */
const HASH_TOPICS: Readonly<Record<Hex, number>> = {
  // pegin_btc(address,bytes32,int256,int256)
  '0x44cdc782a38244afd68336ab92a0b39f864d6c0b2a50fa1da58cafc93cd2ae5a': 2,
  // rejected_pegin(bytes32,int256)
  '0x708ce1ead20561c5894a93be3fee64b326b2ad6c198f8253e4bb56f1626053d6': 1,
  // unrefundable_pegin(bytes32,int256)
  '0x35be155c87e408cbbcb753dc12f95fc5a242a29460a3d7189e807e63d7c185a7': 1,
  // release_requested(bytes32,bytes32,uint256)
  '0x7a7c29481528ac8c2b2e93aee658fddd4dc15304fa723a5c2b88514557bcc790': 2,
  // pegout_transaction_created(bytes32,bytes)
  '0x9ee5d520fd5e6eaea3fd2e3ae4e35e9a9c0fb05c9d8f84b507f287da84b5117c': 1,
  // batch_pegout_created(bytes32,bytes)
  '0x483d0191cc4e784b04a41f6c4801a0766b43b1fdd0b9e3e6bfdca74e5b05c2eb': 1,
  // pegout_confirmed(bytes32,uint256)
  '0xc287f602476eeef8a547a3b82e79045c827c51362ff153f728b6d839bad099ef': 1,
}

/** The Bitcoin transaction that a log of the Bridge names; `undefined` for another log. */
export function bitcoinHashIn({ address, topics }: Pick<Log, 'address' | 'topics'>): string | undefined {
  const [first] = topics
  const at = address === BRIDGE && first !== undefined ? HASH_TOPICS[first] : undefined
  return at === undefined ? undefined : topics[at]?.slice(2)
}
