/**
 * Set-code transactions (RSKIP-545) against those of Ethereum's Prague by `@ethereumjs/vm`: the same random authorizations
 * of the same accounts leave the same nonces, codes, storage and balances. Both sides have no fees here, and no program
 * runs out of gas, which they count otherwise.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT } from '../../src/chain/account.ts'
import { type Authorization, authorityOf, delegationTo } from '../../src/chain/authorization.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { chosenHeights } from '../../src/chain/rule-choice.ts'
import { addressOf, CURVE_ORDER, sign } from '../../src/chain/signature.ts'
import { signTransaction, type Transaction } from '../../src/chain/transaction.ts'
import { TYPE } from '../../src/chain/transaction-types.ts'
import { typedFields } from '../../src/chain/typed-transaction.ts'
import { executeByEthereumRules } from '../../src/comparison/ethereum-rules.ts'
import { concat, EMPTY, fromBigInt, oneByte } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import { vmRulesOf } from '../../src/evm/rules.ts'
import { createVm } from '../../src/evm/vm.ts'
import { applyTransaction, TransactionRejected } from '../../src/execution/apply-transaction.ts'
import { applyChanges } from '../../src/state/apply-changes.ts'
import type { StateReader } from '../../src/state/model.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { assemble } from '../support/assembler.ts'
import { ENVIRONMENT, NOTHING } from '../support/execution.ts'

const RUNS = Number(process.env.SET_CODE_RUNS ?? 60)

const CHAIN_ID = 33
const KEYS = [1, 2, 3].map((n) => keccak256(oneByte(n)))
const AUTHORITIES = KEYS.map((key) => addressOf(key))
const env = { ...ENVIRONMENT, minimumGasPrice: 0n }
const vm = createVm({
  chainId: CHAIN_ID,
  rulesAt: vmRulesOf({
    ...CHAINS.regtest,
    ruleHeights: chosenHeights(CHAINS.regtest.ruleHeights, { rules: 'next' }),
  }),
})

const WRITER: Hex = `0x${'a1'.repeat(20)}`
const READER: Hex = `0x${'a2'.repeat(20)}`
const REVERTER: Hex = `0x${'a3'.repeat(20)}`
const CALLER: Hex = `0x${'a4'.repeat(20)}`
const NOWHERE: Hex = `0x${'a5'.repeat(20)}`
const IDENTITY: Hex = '0x0000000000000000000000000000000000000004'

/** Stores where it runs, and what the opcodes for code see of that account. */
const WRITES = `CALLER 0 SSTORE ADDRESS 1 SSTORE CALLVALUE 2 SSTORE ORIGIN 3 SSTORE CODESIZE 4 SSTORE
  ADDRESS EXTCODESIZE 5 SSTORE ADDRESS EXTCODEHASH 6 SSTORE SELFBALANCE 7 SSTORE
  32 0 0 ADDRESS EXTCODECOPY 0 MLOAD 8 SSTORE 32 0 0 CODECOPY 0 MLOAD 9 SSTORE`
/** Returns the same without a write. */
const READS = `ADDRESS EXTCODESIZE CODESIZE ADD CALLER ADD ADDRESS ADD 0 MSTORE 32 0 RETURN`

const CALLS = { CALL: '0', CALLCODE: '0', DELEGATECALL: '', STATICCALL: '' } as const

/** Calls each account in each way with 100,000 gas, and stores the outcomes from slot 16 on. */
function callsTo(accounts: readonly Hex[]): string {
  const steps = accounts.flatMap((account, i) =>
    Object.entries(CALLS).map(([opcode, value], j) => {
      const slot = 16 + 3 * (4 * i + j)
      return `0 0 MSTORE 32 0 0 0 ${value} PUSH20 ${account} 100000 ${opcode} ${slot} SSTORE
        0 MLOAD ${slot + 1} SSTORE RETURNDATASIZE ${slot + 2} SSTORE`
    }),
  )
  return steps.join(' ')
}

const PROGRAMS: Readonly<Record<Hex, string>> = {
  [WRITER]: WRITES,
  [READER]: READS,
  [REVERTER]: `${WRITES} 0 0 REVERT`,
  [CALLER]: callsTo([...AUTHORITIES, IDENTITY]),
}
const TARGETS: readonly Hex[] = [WRITER, READER, REVERTER, CALLER, NOWHERE, IDENTITY, ...AUTHORITIES]
const ZERO: Hex = `0x${'00'.repeat(20)}`

/** An account before the transaction. */
interface Before {
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: 'none' | 'delegation' | 'contract'
  readonly to: Hex
}

const before: fc.Arbitrary<Before> = fc.record({
  nonce: fc.constantFrom(0n, 1n, 7n, 2n ** 64n - 2n),
  balance: fc.constantFrom(0n, 1n, 10n ** 18n),
  code: fc.constantFrom('none', 'none', 'delegation', 'delegation', 'contract'),
  to: fc.constantFrom(...TARGETS),
})

/** One tuple: who signs, for which chain, how far the nonce is from the account's, and what is wrong with the signature. */
const tuple = fc.record({
  authority: fc.nat(KEYS.length - 1),
  chainId: fc.constantFrom(0n, BigInt(CHAIN_ID), BigInt(CHAIN_ID), 34n, 2n ** 255n),
  address: fc.constantFrom(ZERO, ...TARGETS),
  nonceOff: fc.constantFrom(0n, 0n, 0n, 1n, 1n, 2n, -1n),
  fault: fc.constantFrom('none', 'none', 'none', 'none', 'high s', 'parity', 'zero r', 'other parity'),
})

const scenario = fc.record({
  accounts: fc.tuple(before, before, before),
  tuples: fc.array(tuple, { minLength: 1, maxLength: 5 }),
  sender: fc.nat(KEYS.length - 1),
  to: fc.constantFrom(...TARGETS),
  value: fc.constantFrom(0n, 0n, 1n),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never
type Tuple = Scenario['tuples'][number]

function signed({ authority, chainId, address, nonceOff, fault }: Tuple, nonce: bigint): Authorization {
  const wanted = nonce + nonceOff
  const ofTuple = {
    chainId,
    address,
    nonce: wanted < 0n ? 0n : wanted >= 2n ** 64n ? 2n ** 64n - 1n : wanted,
  }
  const list = [fromBigInt(chainId), fromHex(address), fromBigInt(ofTuple.nonce)]
  const { r, s, parity } = sign(keccak256(concat(oneByte(5), encodeRlp(list))), KEYS[authority] as Uint8Array)
  if (fault === 'high s') return { ...ofTuple, r, s: CURVE_ORDER - s, yParity: 1 - parity }
  if (fault === 'parity') return { ...ofTuple, r, s, yParity: 27 + parity }
  if (fault === 'zero r') return { ...ofTuple, r: 0n, s, yParity: parity }
  return { ...ofTuple, r, s, yParity: fault === 'none' ? parity : 1 - parity }
}

function stateOf(accounts: Scenario['accounts'], sender: number): Overlay {
  const state = new Overlay(NOTHING)
  const put = (address: Hex, nonce: bigint, balance: bigint, code: Uint8Array) => {
    state.putAccount(address, { ...EMPTY_ACCOUNT, nonce, balance })
    if (code.length === 0) return
    state.putCode(address, code)
    state.markContract(address)
  }
  for (const [address, program] of Object.entries(PROGRAMS) as [Hex, string][])
    put(address, 1n, 0n, assemble(program))
  for (const [i, address] of AUTHORITIES.entries()) {
    const { nonce, balance, code, to } = accounts[i] as Before
    const kinds = { none: EMPTY, delegation: delegationTo(to), contract: assemble(READS) }
    const isAbsent = nonce === 0n && balance === 0n && code === 'none' && i !== sender
    // An account with code has sent something, or is a contract.
    if (!isAbsent)
      put(address, code === 'none' ? nonce : nonce || 1n, i === sender ? 10n ** 18n : balance, kinds[code])
  }
  return state
}

function transactionOf({ tuples, sender, to, value }: Scenario, state: Overlay): Transaction {
  const nonceOf = (i: number) => state.account(AUTHORITIES[i] as Hex)?.nonce ?? 0n
  const authorizations = tuples.map((one) =>
    signed(one, nonceOf(one.authority) + (one.authority === sender ? 1n : 0n)),
  )
  const unsigned = {
    ...{ type: TYPE.setCode, chainId: CHAIN_ID, nonce: nonceOf(sender), gasPrice: 0n, gasLimit: 6_000_000n },
    ...{ to, value, data: EMPTY },
    typed: typedFields({ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, authorizations }),
  }
  return signTransaction(unsigned, KEYS[sender] as Uint8Array)
}

/** What is compared of an account; nothing of an empty one, which only this chain keeps. */
function shown(state: StateReader, address: Hex): unknown {
  const { nonce, balance, codeHash } = state.account(address) ?? EMPTY_ACCOUNT
  const slots = [...state.cells(address).keys()].map((slot) => [slot, state.storage(address, slot)] as const)
  const cells = slots.filter(([, value]) => value !== 0n).sort(([a], [b]) => (a < b ? -1 : 1))
  return { address, nonce, balance, code: toHex(state.code(codeHash)), cells }
}

const everyone: readonly Hex[] = [...TARGETS, ZERO]
const rejected = (error: unknown): undefined => {
  if (error instanceof TransactionRejected) return undefined
  throw error
}

describe('set-code transactions', () => {
  it("leave what Ethereum's leave", async () => {
    let [applied, delegating] = [0, 0]
    await fc.assert(
      fc.asyncProperty(scenario, async (wanted) => {
        const start = stateOf(wanted.accounts, wanted.sender)
        const transaction = transactionOf(wanted, start)
        const ours = new Overlay(start)
        const parts = { transaction, state: ours, env, vm, gasAvailable: env.gasLimit }
        const outcome = await applyTransaction(parts).catch(rejected)
        const place = { transaction, state: start, env, chainId: CHAIN_ID }
        const ethereum = await executeByEthereumRules({ ...place, hardfork: 'prague' }).catch(rejected)
        expect(outcome === undefined).toBe(ethereum === undefined)
        if (outcome === undefined || ethereum === undefined) return
        const theirs = new Overlay(start)
        applyChanges(theirs, ethereum.changes)
        expect(outcome.succeeded).toBe(ethereum.succeeded)
        expect(toHex(outcome.output)).toBe(toHex(ethereum.output))
        expect(everyone.map((address) => shown(ours, address))).toEqual(
          everyone.map((address) => shown(theirs, address)),
        )
        applied++
        const authorities = (transaction.typed?.authorizations ?? []).map(authorityOf)
        if (
          authorities.some(
            (one) =>
              one !== undefined && (ours.account(one)?.nonce ?? 0n) > (start.account(one)?.nonce ?? 0n),
          )
        )
          delegating++
      }),
      { numRuns: RUNS },
    )
    expect(applied).toBeGreaterThan(RUNS / 2)
    expect(delegating).toBeGreaterThan(RUNS / 4)
  })
})
