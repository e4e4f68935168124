/**
 * What transactions of the parent chain are to the Bridge, and what becomes of peg-ins, as the reference node's own classes
 * have it (`fixtures/bridge/transaction-types.json.gz`).
 */
import { describe, expect, it } from 'vitest'
import { outputScript } from '../../../../../src/bitcoin/output-script.ts'
import { multisig } from '../../../../../src/bitcoin/redeem-script.ts'
import { parseRedeem } from '../../../../../src/bitcoin/redeem-script-parser.ts'
import { scriptOfAddress } from '../../../../../src/bitcoin/regtest-address.ts'
import { decodeTransaction, type Transaction } from '../../../../../src/bitcoin/transaction.ts'
import { isActive } from '../../../../../src/chain/activations.ts'
import type { RuleName } from '../../../../../src/chain/consensus-rules.ts'
import { RULE_HEIGHTS } from '../../../../../src/chain/shipped-networks.ts'
import { fromHex, toHex } from '../../../../../src/encoding/hex.ts'
import {
  type FederationFormat,
  minimumPegin,
} from '../../../../../src/evm/precompiles/bridge/constants/network.ts'
import { REGTEST } from '../../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import { lockHash } from '../../../../../src/evm/precompiles/bridge/federation/federation.ts'
import { evaluatePegin } from '../../../../../src/evm/precompiles/bridge/pegin/evaluation.ts'
import { LegacyTyping } from '../../../../../src/evm/precompiles/bridge/pegin/legacy-type.ts'
import { gzippedFixture } from '../../../../support/fixture.ts'

interface Case {
  readonly transaction: string
  /** The active and the retiring one: format and redeem script. */
  readonly federations: readonly [ReferenceFederation, ReferenceFederation | null]
  readonly lastRetired: string
  readonly types: Readonly<Record<string, string>>
  readonly pegin: string
}
type ReferenceFederation = readonly [format: FederationFormat, redeem: string]

const { cases } = gzippedFixture<{ cases: readonly Case[] }>('bridge/transaction-types.json.gz')

/** Heights of the main network from which the rules of an upgrade hold. */
const UPGRADES: Readonly<Record<string, number>> = {
  genesis: 0,
  wasabi100: 1_591_000,
  papyrus200: 2_392_700,
  iris300: 3_614_800,
  hop400: 4_598_500,
  fingerroot500: 5_468_000,
  arrowhead600: 6_223_700,
  reed800: 8_052_200,
}
const TYPES: Readonly<Record<string, string>> = {
  pegin: 'PEGIN',
  pegout: 'PEGOUT_OR_MIGRATION',
  unknown: 'UNKNOWN',
}
const REASONS: Readonly<Record<string, string>> = {
  2: 'LEGACY_PEGIN_MULTISIG_SENDER',
  3: 'LEGACY_PEGIN_UNDETERMINED_SENDER',
  4: 'PEGIN_V1_INVALID_PAYLOAD',
  5: 'INVALID_AMOUNT',
}

function federationOf([format, redeem]: ReferenceFederation) {
  const script = fromHex(`0x${redeem}`)
  const parsed = parseRedeem(script)
  if (parsed === undefined) throw new Error(`no script of a federation: ${redeem}`)
  const scriptHash = lockHash(script, format)
  const members = multisig(parsed.required, parsed.keys)
  return {
    format,
    publicKeys: parsed.keys,
    threshold: parsed.required,
    scriptHash,
    outputScript: outputScript({ kind: 'scriptHash', hash: scriptHash }),
    memberScript: outputScript({ kind: 'scriptHash', hash: lockHash(members, format) }),
  }
}

function typeOf(transaction: Transaction, { federations, lastRetired }: Case, height: number): string {
  const [active, retiring] = federations
  const old = scriptOfAddress(REGTEST.oldFederationAddress)
  if (old === undefined) throw new Error('the old federation has no script')
  const parties = {
    active: federationOf(active),
    retiring: retiring === null ? undefined : federationOf(retiring),
    lastRetiredScript: lastRetired === '' ? undefined : fromHex(`0x${lastRetired}`),
    oldScriptHash: old.slice(2, 22),
  }
  const rules = (rule: RuleName) => isActive(RULE_HEIGHTS.mainnet, rule, height)
  try {
    return TYPES[new LegacyTyping(transaction, parties, minimumPegin(rules), rules).type()] ?? ''
  } catch (error) {
    if (error instanceof RangeError) return 'THROWS'
    throw error
  }
}

function peginOf(transaction: Transaction, { federations }: Case): string {
  const live = federations.flatMap((each) => (each === null ? [] : [federationOf(each)]))
  const made = evaluatePegin(transaction, live, 500_000n)
  if (made.action === 'register') return `REGISTER - ${made.version} ${made.receiver.slice(2)}`
  const reason = REASONS[String(made.reason)]
  if (made.action === 'keep') return `NO_REFUND ${reason}`
  return `REFUND ${reason} ${toHex(outputScript(made.to)).slice(2)}`
}

describe('a transaction of the parent chain', () => {
  it.each(Object.entries(UPGRADES))(
    'is to the Bridge what it is to the reference node, at %s',
    (name, height) => {
      for (const [i, each] of cases.entries()) {
        const transaction = decodeTransaction(fromHex(`0x${each.transaction}`))
        expect(typeOf(transaction, each, height), `${i}`).toBe(each.types[name])
      }
    },
  )

  it('is registered, refunded or kept as a peg-in as by the reference node', () => {
    for (const [i, each] of cases.entries()) {
      const transaction = decodeTransaction(fromHex(`0x${each.transaction}`))
      expect(peginOf(transaction, each), `${i}`).toBe(each.pegin)
    }
  })
})
