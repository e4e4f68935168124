import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contractAddress, remascTransaction } from '../../src/chain/transaction.ts'
import type { EthereumFork } from '../../src/comparison/ethereum-forks.ts'
import { type EthereumOutcome, executeByEthereumRules } from '../../src/comparison/ethereum-rules.ts'
import { toHex } from '../../src/encoding/hex.ts'
import type { BlockEnvironment } from '../../src/evm/message.ts'
import { TransactionRejected } from '../../src/execution/apply-transaction.ts'
import type { Overlay } from '../../src/state/overlay.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { stateOf } from '../support/differential.ts'
import { ethereumStateRoot } from '../support/ethereum-state.ts'
import {
  COINBASE,
  CONTRACT,
  ENVIRONMENT,
  NOTHING,
  OTHER,
  RETURN_TOP,
  SENDER,
  transaction,
  world,
} from '../support/execution.ts'
import { judge, logsHash, type Verdict } from '../support/library-oracle.ts'
import { situations } from '../support/random-situations.ts'

interface Ways {
  readonly hardfork?: EthereumFork
  readonly env?: Partial<BlockEnvironment>
  readonly deadlineMs?: number
}

function execute(
  state: Overlay,
  parts: Parameters<typeof transaction>[0] = {},
  { env, ...ways }: Ways = {},
): Promise<EthereumOutcome> {
  return executeByEthereumRules({
    transaction: transaction({ to: CONTRACT, gasLimit: 1_000_000n, gasPrice: 60_000n, ...parts }),
    state,
    env: { ...ENVIRONMENT, ...env },
    chainId: 33,
    ...ways,
  })
}

/** What the contract returns. */
async function answer(code: string, ways: Ways = {}): Promise<bigint> {
  const { output, failure } = await execute(
    world({ [CONTRACT]: { code: `${code} ${RETURN_TOP}` } }),
    {},
    ways,
  )
  expect(failure).toBeUndefined()
  return BigInt(toHex(output))
}

describe('the rules of Cancun', () => {
  it('pay the fee above the base fee to the coinbase, and burn the rest', async () => {
    const { changes, gasUsed } = await execute(world(), { to: OTHER, value: 5n, gasPrice: 60_003n })
    expect(gasUsed).toBe(21_000n)
    expect(changes.accounts.get(COINBASE)?.balance).toBe(3n * 21_000n)
    expect(changes.accounts.get(OTHER)?.balance).toBe(5n)
    expect(changes.accounts.get(SENDER)?.balance).toBe(10n ** 24n - 5n - 60_003n * 21_000n)
  })

  it('distinguish warm and cold storage, and refund at most a fifth', async () => {
    const state = world({ [CONTRACT]: { code: '0 7 SSTORE', storage: { 7: 1n } } })
    const cleared = await execute(state)
    expect(cleared).toMatchObject({ gasUsed: 26_006n - 4_800n, refund: 4_800n })
    const twice = await execute(world({ [CONTRACT]: { code: '7 SLOAD POP 7 SLOAD POP' } }))
    expect(twice.gasUsed).toBe(21_000n + 10n + 2_100n + 100n)
  })

  it('price a word by its value before the transaction', async () => {
    const back = await execute(world({ [CONTRACT]: { code: '5 7 SSTORE 1 7 SSTORE', storage: { 7: 1n } } }))
    // 5,000 for the change, 100 to undo it; the first less 100 comes back for the undoing, and 2,100 as well.
    expect(back).toMatchObject({ gasUsed: 21_000n + 12n + 5_000n + 100n - 2_800n, refund: 2_800n })
  })

  it('keep a contract that destroys itself in a later transaction than its creation', async () => {
    const { changes } = await execute(world({ [CONTRACT]: { balance: 9n, code: `${OTHER} SELFDESTRUCT` } }))
    expect(changes.accounts.get(OTHER)?.balance).toBe(9n)
    expect(changes.accounts.get(CONTRACT)).toMatchObject({ balance: 0n })
  })

  it('begin a created contract at nonce 1', async () => {
    const { created, changes } = await execute(world(), { to: null, data: deployer(assemble('STOP')) })
    expect(created).toBe(contractAddress(SENDER, 1n))
    expect(changes.accounts.get(contractAddress(SENDER, 1n))?.nonce).toBe(1n)
  })

  it.each([
    ['BASEFEE', 60_000n],
    ['CHAINID', 33n],
    ['DIFFICULTY', 7n],
    ['NUMBER', 1000n],
    ['999 BLOCKHASH', BigInt(`0x${'e7'.repeat(32)}`)],
    ['5 1 TSTORE 1 TLOAD', 5n],
    ['0x09 EXTCODESIZE', 0n],
  ])('answer %s', async (code, word) => {
    expect(await answer(code)).toBe(word)
  })
})

describe('earlier forks', () => {
  it.each([
    ['petersburg', 'CHAINID', 'invalid opcode'],
    ['berlin', 'BASEFEE', 'invalid opcode'],
    ['paris', 'PUSH0', 'invalid opcode'],
    ['shanghai', '1 TLOAD', 'invalid opcode'],
  ] as const)('%s does not have %s', async (hardfork, code, reason) => {
    const { failure, gasUsed } = await execute(world({ [CONTRACT]: { code } }), {}, { hardfork })
    expect(failure).toMatchObject({ kind: 'failed', reason })
    expect(gasUsed).toBe(1_000_000n)
  })

  it.each([
    ['petersburg', 200n],
    ['istanbul', 800n],
    ['berlin', 2_100n],
    ['london', 2_100n],
  ] as const)('%s reads storage for %d gas', async (hardfork, price) => {
    const { gasUsed } = await execute(world({ [CONTRACT]: { code: '7 SLOAD' } }), {}, { hardfork })
    expect(gasUsed).toBe(21_003n + price)
  })
})

describe('failures', () => {
  it('have the messages of the node', async () => {
    const jump = await execute(world({ [CONTRACT]: { code: '1 JUMP' } }))
    expect(jump.failure).toMatchObject({ kind: 'failed', reason: 'invalid jump' })
    const revert = await execute(world({ [CONTRACT]: { code: '7 0 MSTORE 32 0 REVERT' } }))
    expect(revert.failure?.kind).toBe('reverted')
    expect(BigInt(toHex(revert.output))).toBe(7n)
    expect(revert.logs).toEqual([])
  })

  it.each([
    ['a wrong nonce', { nonce: 9n }, {}, /nonce/],
    ['too little balance', { value: 10n ** 24n }, {}, /funds/],
    ['too little gas', { gasLimit: 20_999n }, {}, /gas/],
    ['a price below the base fee', { gasPrice: 59_999n }, {}, /baseFee/],
    ['more gas than the block', { gasLimit: 10_000_001n }, {}, /block/],
    ['too long initcode', { to: null, data: new Uint8Array(49_153) }, {}, /initcode/],
    ['a sender that is a contract', { from: CONTRACT, nonce: 0n }, {}, /EOA/],
    ['the REMASC transaction', remascTransaction(7), {}, /REMASC/],
  ])('%s is refused', async (_, parts, ways, reason) => {
    const state = world({ [CONTRACT]: { code: 'STOP', balance: 10n ** 24n } })
    await expect(execute(state, parts, ways)).rejects.toSatisfy(
      (error) => error instanceof TransactionRejected && reason.test(error.message),
    )
  })

  it('of point evaluation, which is not implemented, are reported and not guessed', async () => {
    const to = `0x${'a'.padStart(40, '0')}` as const
    await expect(execute(world(), { to })).rejects.toSatisfy(
      (error) => error instanceof TransactionRejected && /point evaluation/.test(error.message),
    )
    expect(await execute(world(), { to }, { hardfork: 'shanghai' })).toMatchObject({ succeeded: true })
  })

  it('of the state are not reported as a refusal', async () => {
    const broken = {
      ...NOTHING,
      account: () => {
        throw new Error('the disk is gone')
      },
    }
    const run = executeByEthereumRules({
      transaction: transaction(),
      state: broken,
      env: ENVIRONMENT,
      chainId: 33,
    })
    await expect(run).rejects.toSatisfy(
      (error) => !(error instanceof TransactionRejected) && /disk/.test(String(error)),
    )
  })

  it('end an endless loop at the deadline', async () => {
    const state = world({ [CONTRACT]: { code: 'again: @again JUMP' } })
    const parts = { gasLimit: 10n ** 12n, gasPrice: 0n }
    const env = { gasLimit: 10n ** 12n, minimumGasPrice: 0n }
    await expect(execute(state, parts, { env, deadlineMs: 20 })).rejects.toMatchObject({
      kind: 'limit-exceeded',
    })
  })
})

it('leaves the given state unchanged', async () => {
  const state = world({ [CONTRACT]: { code: '9 7 SSTORE', storage: { 7: 1n } } })
  const outcome = await execute(state)
  expect(outcome.changes.storage.get(CONTRACT)?.slots.get(7n)).toBe(9n)
  expect(state.storage(CONTRACT, 7n)).toBe(1n)
  expect(state.account(SENDER)?.nonce).toBe(1n)
})

it('runs several comparisons concurrently', async () => {
  const answers = [1, 2, 3, 4].map((number) => answer('NUMBER', { env: { number } }))
  expect(await Promise.all(answers)).toEqual([1n, 2n, 3n, 4n])
})

/** Like the random programs: RANDOM_RUNS raises the number. */
const NUM_RUNS = Number(process.env.RANDOM_RUNS ?? 60)

describe.each(['petersburg', 'cancun'] as const)('under %s', (hardfork) => {
  it(
    'the library gives the same results and root on our state as on its own',
    async () => {
      await fc.assert(
        fc.asyncProperty(situations(hardfork === 'cancun' ? 'chain' : 'petersburg'), async (situation) => {
          const before = stateOf(situation.accounts)
          const { transaction, env } = situation
          let found: Verdict
          try {
            const outcome = await executeByEthereumRules({
              transaction,
              state: before,
              env,
              chainId: 33,
              hardfork,
            })
            found = {
              status: outcome.failure?.kind ?? 'succeeded',
              gas: outcome.gasUsed,
              root: await ethereumStateRoot(before.changes(), outcome.changes),
              logs: logsHash(outcome.logs),
            }
          } catch (error) {
            if (!(error instanceof TransactionRejected)) throw error
            // Neither computes it.
            fc.pre(!/point evaluation/.test(error.message))
            found = {
              status: 'rejected',
              gas: 0n,
              root: await ethereumStateRoot(before.changes()),
              logs: logsHash([]),
            }
          }
          expect(found).toEqual(await judge(situation, hardfork))
        }),
        { numRuns: NUM_RUNS, ...(process.env.RANDOM_RUNS === undefined && { seed: 77 }) },
      )
    },
    process.env.RANDOM_RUNS === undefined ? 60_000 : 3_600_000,
  )
})
