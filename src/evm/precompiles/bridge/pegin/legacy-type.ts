/**
 * What a transaction of the parent chain is to the Bridge, told by the scripts that its inputs spend: below the height from
 * which the index of peg-outs counts (RSKIP-379). A RangeError is thrown where the reference node fails.
 */
import { outputScript, scriptHashOf, toScript, toWitnessScript } from '../../../../bitcoin/output-script.ts'
import { revealedScript } from '../../../../bitcoin/redeem-input.ts'
import { multisig } from '../../../../bitcoin/redeem-script.ts'
import { parseRedeem } from '../../../../bitcoin/redeem-script-parser.ts'
import { spendsScriptHash } from '../../../../bitcoin/script-spending.ts'
import type { Input, Transaction } from '../../../../bitcoin/transaction.ts'
import type { IsActive } from '../../../../chain/activations.ts'
import { equal } from '../../../../encoding/bytes.ts'
import { toHex } from '../../../../encoding/hex.ts'
import type { Federation } from '../federation/federation.ts'
import { paymentsTo, totalOf } from './payments.ts'

/** A federation as the inputs and outputs of a transaction show it. */
export type PegFederation = Pick<
  Federation,
  'publicKeys' | 'threshold' | 'outputScript' | 'scriptHash' | 'memberScript'
>

/** The federations that a transaction can come from or go to. */
export interface Federations {
  readonly active: PegFederation
  readonly retiring: PegFederation | undefined
  /** Output script of the last retired one without emergency keys; `undefined` before there was one. */
  readonly lastRetiredScript: Uint8Array | undefined
  /** Hash of the script of one before all of these, of which no more is known. */
  readonly oldScriptHash: Uint8Array
}

/** Kinds that the scripts tell. */
export type LegacyType = 'pegin' | 'pegout' | 'unknown'

const listOf = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value])

/** The active federation, then the retiring one. */
export function liveFederations({ active, retiring }: Federations): readonly PegFederation[] {
  return retiring === undefined ? [active] : [active, retiring]
}

/** Tells the type of one transaction. Inputs are looked at in order: one that decides hides those that cannot be read. */
export class LegacyTyping {
  readonly #transaction: Transaction
  readonly #federations: Federations
  readonly #minimum: bigint
  readonly #isActive: IsActive
  readonly #spending = new Map<string, boolean>()

  /** `minimum`: of a peg-in, satoshi. */
  constructor(transaction: Transaction, federations: Federations, minimum: bigint, isActive: IsActive) {
    this.#transaction = transaction
    this.#federations = federations
    this.#minimum = minimum
    this.#isActive = isActive
  }

  /** The type. */
  type(): LegacyType {
    const { lastRetiredScript, oldScriptHash } = this.#federations
    const live = liveFederations(this.#federations)
    const { inputs } = this.#transaction
    if (this.#isActive('rskip199') && inputs.some((_, i) => this.#spends(i, oldScriptHash))) return 'pegout'
    if (this.#isPegin(live, lastRetiredScript)) return 'pegin'
    if (this.#isMigration()) return 'pegout'
    return this.#comesFrom(live.map(({ memberScript }) => memberScript)) ? 'pegout' : 'unknown'
  }

  /** The same input is asked about several times, and the answer can take a hundred signatures. */
  #spends(index: number, scriptHash: Uint8Array): boolean {
    const key = `${index}:${toHex(scriptHash)}`
    const known = this.#spending.get(key)
    if (known !== undefined) return known
    const spends = spendsScriptHash(this.#transaction, index, scriptHash)
    this.#spending.set(key, spends)
    return spends
  }

  /** The plain multisig script that an input reveals. */
  #revealed(input: Input): Uint8Array | undefined {
    const script = revealedScript(input)
    return script === undefined || !this.#isActive('rskip201') ? script : parseRedeem(script)?.standard
  }

  /** Does an input spend coins of these federations, or reveal the script of one? */
  #isOwn(
    input: Input,
    index: number,
    federations: readonly PegFederation[],
    retiredScript: Uint8Array | undefined,
  ): boolean {
    const spent = [
      ...federations.map(({ scriptHash }) => scriptHash),
      ...listOf(retiredScript).map(scriptHashOf),
    ]
    if (spent.some((hash) => this.#spends(index, hash))) return true
    const revealed = this.#revealed(input)
    if (revealed === undefined || !this.#isActive('rskip201')) return false
    const isOfLive = federations.some(({ threshold, publicKeys }) =>
      equal(multisig(threshold, publicKeys), revealed),
    )
    return isOfLive || listOf(retiredScript).some((script) => equal(outputScript(toScript(revealed)), script))
  }

  /** Does no input belong to these, and is the value that the outputs pay to them enough? */
  #isPegin(federations: readonly PegFederation[], retiredScript: Uint8Array | undefined): boolean {
    const { inputs } = this.#transaction
    if (inputs.some((input, i) => this.#isOwn(input, i, federations, retiredScript))) return false
    const payments = paymentsTo(this.#transaction, ...federations)
    return this.#isActive('rskip293')
      ? payments.every(({ value }) => value >= this.#minimum)
      : totalOf(payments) >= this.#minimum
  }

  #isMigration(): boolean {
    const { active, retiring, lastRetiredScript } = this.#federations
    const left = [...listOf(lastRetiredScript), ...listOf(retiring?.memberScript)]
    if (left.length === 0) return false
    const comesFromThem = this.#comesFrom(left)
    return this.#isPegin([active], undefined) && comesFromThem
  }

  /** Does an input reveal a script that one of these outputs pays to? */
  #comesFrom(outputScripts: readonly Uint8Array[]): boolean {
    const isOneOf = (script: Uint8Array) => outputScripts.some((other) => equal(other, script))
    return this.#transaction.inputs.some((input) => {
      const revealed = this.#revealed(input)
      if (revealed === undefined) return false
      if (isOneOf(outputScript(toScript(revealed)))) return true
      return this.#isActive('rskip305') && isOneOf(outputScript(toWitnessScript(revealed)))
    })
  }
}
