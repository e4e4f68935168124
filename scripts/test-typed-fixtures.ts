/**
 * Runs Ethereum's official tests of typed transactions by this chain's rules: `npm run test:typed-fixtures -- <folder>`, a
 * folder of execution-spec-tests fixtures with `state_tests`, `blockchain_tests` and `transaction_tests`. Bytes are read as
 * their tests state, and after the blocks of a test nonces, codes, storage and balances are those of its post-state. Tests
 * of what this chain has otherwise are left out by `CHANGED`. Exit code 1 where one fails.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { EMPTY_ACCOUNT } from '../src/chain/account.ts'
import { CHAINS } from '../src/chain/config.ts'
import { chosenHeights } from '../src/chain/rule-choice.ts'
import { decodeTransaction, type Transaction } from '../src/chain/transaction.ts'
import { equal } from '../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../src/encoding/hex.ts'
import { decodeRlp, encodeRlp } from '../src/encoding/rlp.ts'
import type { BlockEnvironment } from '../src/evm/message.ts'
import { type Vm, vmRulesOf } from '../src/evm/rules.ts'
import { createVm } from '../src/evm/vm.ts'
import { applyTransaction, TransactionRejected } from '../src/execution/apply-transaction.ts'
import { Overlay } from '../src/state/overlay.ts'
import { NOTHING } from '../test/support/execution.ts'
import { faultOf, type TypedVector } from '../test/support/typed-vectors.ts'

/** EIP-2930, EIP-1559, EIP-7702. */
const FOLDERS = [
  'berlin/eip2930_access_list',
  'london/eip1559_fee_market_change',
  'prague/eip7702_set_code_tx',
]

const ACCESS = 'gas of warm and cold access (EIP-2929)'
const ALL_GAS = 'a call may pass on all gas, which is gone where it fails (EIP-150)'
const PRECOMPILES = 'precompiled contracts: prices, limits of input (RSKIP-516), none from 0x0a on'
const DESTRUCTION = 'SELFDESTRUCT ends every account (EIP-6780)'
/** Tests about what this chain has otherwise than Ethereum, by parts of their names, and why. */
const CHANGED: readonly (readonly [name: RegExp, reason: string])[] = [
  [/::test_(account_warming|self_set_code_cost|set_code_address_and_authority_warm_state)\W/, ACCESS],
  [/::test_(gas_diff_pointer_vs_direct_call|pointer_call_followed_by_direct_call)\W/, ACCESS],
  [/::test_(account_storage_warm_cold_state|repeated_address_acl)\W/, ACCESS],
  [/::test_delegation_replacement_call_previous_contract\W/, ACCESS],
  [/::test_transaction_intrinsic_gas_cost\W/, 'prices of access lists (EIP-2930)'],
  [/::test_set_code_to_self_destruct/, DESTRUCTION],
  [/::test_pointer_resets_an_empty_code_account_with_storage\W/, DESTRUCTION],
  [/::test_(set_code_call_set_code|set_code_to_self_caller)\[.*STATICCALL/, ALL_GAS],
  [/::test_(creating_delegation_designation_contract|pointer_contract_pointer_loop)\W/, ALL_GAS],
  [/::test_delegate_call_targets\[.*(INVALID|OOG)/, ALL_GAS],
  [/::test_delegate_call_targets\[.*initcode_True/, 'a created contract has nonce 0 (EIP-161)'],
  [/::test_set_code_max_depth_call_stack\W/, 'calls are 400 deep'],
  [/::test_pointer_to_precompile\[.*precompile_0x0+(5|9|[a-f]|1\d)-/, PRECOMPILES],
  [/::test_call_to_precompile_in_pointer_context\W/, 'a call to an account that does not exist costs 25,000'],
  [/tx_type_3/, 'blobs (EIP-4844)'],
]

interface TestAccount {
  readonly nonce: string
  readonly balance: string
  readonly code: Hex
  readonly storage: Readonly<Record<string, string>>
}

type TestState = Readonly<Record<Hex, TestAccount>>

interface BlockTest {
  readonly network: string
  readonly pre: TestState
  readonly postState?: TestState
  readonly blocks: readonly {
    readonly rlp: Hex
    readonly expectException?: string
    readonly blockHeader?: {
      readonly number: string
      readonly timestamp: string
      readonly coinbase: Hex
      readonly gasLimit: string
    }
  }[]
}

interface StateTest {
  readonly transaction: { readonly sender: Hex; readonly nonce: string }
  readonly post: Readonly<
    Record<string, readonly { readonly txbytes: Hex; readonly expectException?: string }[]>
  >
}

interface TransactionTest {
  readonly txbytes: Hex
  readonly result: Readonly<
    Record<string, { readonly hash?: Hex; readonly sender?: Hex; readonly exception?: string }>
  >
}

/** The rule set whose results are taken. */
const FORK = 'Prague'

/** The tests of a kind. */
function* testsIn<T>(root: string, kind: string): Generator<readonly [name: string, test: T]> {
  for (const folder of FOLDERS.map((one) => join(root, kind, one)).filter(existsSync)) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!file.endsWith('.json')) continue
      yield* Object.entries(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, T>)
    }
  }
}

/** The transactions whose bytes the tests state. */
function* vectorsOf(root: string): Generator<TypedVector> {
  for (const [name, { transaction, post }] of testsIn<StateTest>(root, 'state_tests')) {
    for (const { txbytes: bytes, expectException: exception } of post[FORK] ?? []) {
      const { sender, nonce } = transaction
      yield exception === undefined ? { name, bytes, sender, nonce } : { name, bytes, exception }
    }
  }
  for (const [name, { txbytes: bytes, result }] of testsIn<TransactionTest>(root, 'transaction_tests')) {
    const { hash, sender, exception } = result[FORK] ?? {}
    yield {
      name,
      bytes,
      ...(hash !== undefined && { hash }),
      ...(sender !== undefined && { sender }),
      ...(exception !== undefined && { exception }),
    }
  }
}

function preState(accounts: TestState): Overlay {
  const state = new Overlay(NOTHING)
  for (const [address, { balance, nonce, code, storage }] of Object.entries(accounts) as [
    Hex,
    TestAccount,
  ][]) {
    state.putAccount(address, { ...EMPTY_ACCOUNT, balance: BigInt(balance), nonce: BigInt(nonce) })
    if (code !== '0x') {
      state.putCode(address, fromHex(code))
      state.markContract(address)
    }
    for (const [slot, value] of Object.entries(storage))
      state.putStorage(address, BigInt(slot), BigInt(value))
  }
  return state
}

function transactionsOf(rlp: Hex): Uint8Array[] {
  const block = decodeRlp(fromHex(rlp))
  const items = Array.isArray(block) && Array.isArray(block[1]) ? block[1] : []
  return items.map((item) => (item instanceof Uint8Array ? item : encodeRlp(item)))
}

/** What of the state differs from an account of a test; the balance of those who pay or earn fees is not compared. */
function differences(state: Overlay, address: Hex, wanted: TestAccount, paysFees: boolean): string[] {
  const { nonce, balance, codeHash } = state.account(address) ?? EMPTY_ACCOUNT
  const faults: string[] = []
  if (nonce !== BigInt(wanted.nonce)) faults.push(`nonce ${nonce} instead of ${BigInt(wanted.nonce)}`)
  if (!paysFees && balance !== BigInt(wanted.balance))
    faults.push(`balance ${balance} instead of ${BigInt(wanted.balance)}`)
  const code = state.code(codeHash)
  if (!equal(code, fromHex(wanted.code))) faults.push(`code ${toHex(code)} instead of ${wanted.code}`)
  const slots = new Set([...Object.keys(wanted.storage).map(BigInt), ...state.cells(address).keys()])
  const values = new Map(Object.entries(wanted.storage).map(([slot, value]) => [BigInt(slot), BigInt(value)]))
  for (const slot of slots) {
    const [found, value = 0n] = [state.storage(address, slot), values.get(slot)]
    if (found !== value) faults.push(`slot ${slot}: ${found} instead of ${value}`)
  }
  return faults.map((fault) => `${address}: ${fault}`)
}

/** Why a test fails; `undefined` when it passes. */
async function faultOfTest({ pre, postState, blocks }: BlockTest, vm: Vm): Promise<string | undefined> {
  let state = preState(pre)
  const paying = new Set<Hex>()
  for (const { rlp, expectException, blockHeader } of blocks) {
    if (expectException !== undefined || blockHeader === undefined) continue
    const { number, timestamp, coinbase, gasLimit } = blockHeader
    paying.add(coinbase)
    const env: BlockEnvironment = {
      number: Number(number),
      timestamp: Number(timestamp),
      coinbase,
      difficulty: 0n,
      gasLimit: BigInt(gasLimit),
      minimumGasPrice: 0n,
      ancestor: () => undefined,
      ancestorHash: () => undefined,
    }
    for (const raw of transactionsOf(rlp)) {
      const transaction: Transaction = decodeTransaction(raw, true)
      paying.add(transaction.from)
      const next = new Overlay(state)
      try {
        await applyTransaction({ transaction, state: next, env, vm, gasAvailable: env.gasLimit })
      } catch (error) {
        if (!(error instanceof TransactionRejected)) throw error
        return `a transaction was refused: ${error.message}`
      }
      state = next
    }
  }
  const faults = (Object.entries(postState ?? {}) as [Hex, TestAccount][])
    .filter(([address]) => !SYSTEM.has(address))
    .flatMap(([address, wanted]) => differences(state, address, wanted, paying.has(address)))
  return faults.length === 0 ? undefined : faults.join('; ')
}

/** Contracts that Ethereum's blocks write to themselves. */
const SYSTEM: ReadonlySet<string> = new Set([
  '0x000f3df6d732807ef1319fb7b8bb8522d0beac02',
  '0x0000f90827f1c53a10cb7a02335b175320002935',
  '0x0aae40965e6800cd9b1f4b05ff21581047e3f91e',
  '0x0f792be4b0c0cb4dae440ef133e90c0ecd48cccc',
  // Where Gnosis, whose fixtures are of the same tests, collects base fees.
  '0x6bbe78ee9e474842dbd4ab4987b3cefe88426a92',
])

const { positionals } = parseArgs({ allowPositionals: true })
const [root] = positionals
if (root === undefined) {
  console.error('Name a folder of execution-spec-tests fixtures.')
  process.exitCode = 1
} else {
  let [read, misread, passed, failed] = [0, 0, 0, 0]
  for (const vector of vectorsOf(root)) {
    read++
    const fault = faultOf(vector)
    if (fault === undefined) continue
    misread++
    console.log(`MISREAD ${vector.name}: ${fault}`)
  }
  const ruleHeights = chosenHeights(CHAINS.regtest.ruleHeights, { rules: 'next' })
  const vm = createVm({ chainId: 1, rulesAt: vmRulesOf({ ...CHAINS.regtest, ruleHeights }) })
  const changed = new Map<string, number>()
  for (const [name, test] of testsIn<BlockTest>(root, 'blockchain_tests')) {
    if (test.network !== FORK) continue
    const [, reason] = CHANGED.find(([part]) => part.test(name)) ?? []
    if (reason !== undefined) {
      changed.set(reason, (changed.get(reason) ?? 0) + 1)
      continue
    }
    const fault = await faultOfTest(test, vm).catch((error) => `threw ${error}`)
    if (fault === undefined) {
      passed++
      continue
    }
    failed++
    console.log(`FAIL ${name}: ${fault.slice(0, 400)}`)
  }
  for (const [reason, count] of changed) console.log(`left out ${count}: ${reason}`)
  console.log(`${read} transactions, ${misread} read otherwise than their tests state`)
  console.log(`${passed} tests passed, ${failed} failed`)
  if (misread + failed > 0 || read === 0) process.exitCode = 1
}
