/** Submissions that are written together come to what they come to one by one, and fail together with their write. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../src/chain/transaction.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { Call } from '../../src/engine/call.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { NodeError } from '../../src/errors.ts'
import { hashKey } from '../../src/store/table.ts'
import { PREFIX } from '../../src/store/tables.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { transfer } from '../support/forge.ts'
import { openSharedEngine, type SharedEngine } from '../support/shared-writes.ts'

/** Runs of the property; `GROUP_RUNS` makes it longer. */
const RUNS = Number(process.env.GROUP_RUNS ?? 25)
const SENDERS = [0, 1, 2].map((sender) => transfer(sender, {}).from)
/** Logs the value that came, and reverts where there is none. */
const CODE = deployer(assemble('CALLVALUE 6 JUMPI 0 0 REVERT JUMPDEST CALLVALUE 0 0 LOG1 STOP'))
const CONTRACT: Hex = `0x${'c0'.repeat(20)}`

const later = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Waits as long as an answer of the log takes, and appends. */
const appends = later

/** What a caller sends: a signed transaction with a nonce beside that of the sender's next, or a request without one. */
const submission = fc.record({
  kind: fc.constantFrom('signed' as const, 'signed' as const, 'request' as const),
  sender: fc.nat(2),
  shift: fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1, 2),
  to: fc.constantFrom<'someone' | 'contract' | 'creation'>('someone', 'contract', 'creation'),
  /** Of the last, the sender has less. */
  value: fc.constantFrom(0n, 1n, 2n, 10n ** 40n),
  gasPrice: fc.bigInt(0n, 2n),
})
const other = fc.record({
  kind: fc.constantFrom('mine', 'automine', 'manual', 'time', 'timestamp', 'revert'),
})
const step = fc.oneof({ weight: 8, arbitrary: submission }, { weight: 1, arbitrary: other })
/** Steps whose callers do not wait for each other, one list after the other. */
const story = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The step as a command; signed transactions take the nonces that follow one another. */
function commandOf(step: Step, nonces: number[]): (engine: Engine) => Promise<unknown> {
  if (!('sender' in step)) return otherCommand(step.kind)
  const { kind, sender, shift, value, gasPrice } = step
  const to = { someone: `0x${'b0'.repeat(20)}` as const, contract: CONTRACT, creation: null }[step.to]
  const data = to === null ? CODE : new Uint8Array(0)
  if (kind === 'request') {
    const request = { from: SENDERS[sender] as Hex, to, value, gasPrice, data, gas: 150_000n }
    return ({ commands }) => commands.send(request)
  }
  const nonce = Math.max(0, (nonces[sender] ?? 0) + shift)
  if (shift === 0) nonces[sender] = nonce + 1
  const transaction = transfer(sender, { nonce: BigInt(nonce), to, value, gasPrice, data })
  return ({ commands }) => commands.submit(transaction)
}

function otherCommand(kind: string): (engine: Engine) => Promise<unknown> {
  return async ({ commands, queries }) => {
    if (kind === 'mine') return commands.mine()
    if (kind === 'automine') return commands.setAutomine(true)
    if (kind === 'manual') return commands.setAutomine(false)
    if (kind === 'time') return commands.increaseTime(7)
    if (kind === 'timestamp') return commands.setNextBlockTimestamp(2_000_000_000)
    return { height: queries.heightOf({ tag: 'earliest' }) }
  }
}

/** An outcome in values that compare. */
async function outcomeOf(command: Promise<unknown>): Promise<unknown> {
  try {
    return await command
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return { kind: error.kind, message: error.message, data: error.data }
  }
}

async function withContract(shared: SharedEngine): Promise<SharedEngine> {
  const code = assemble('CALLVALUE 6 JUMPI 0 0 REVERT JUMPDEST CALLVALUE 0 0 LOG1 STOP')
  await shared.engine.dev.editState([
    { address: CONTRACT, code },
    // Enough for some transactions, not for all that may wait in the pool at once.
    { address: SENDERS[2] as Hex, balance: 700_000n },
  ])
  return shared
}

describe('submissions that wait together', () => {
  it('come to the same blocks, answers, notifications and database as one by one', async () => {
    let saved = 0
    const property = fc.asyncProperty(story, async (lists) => {
      const nonces = [0, 0, 0]
      const commands = lists.map((steps) => steps.map((step) => commandOf(step, nonces)))
      const together = await withContract(await openSharedEngine(true, appends))
      const alone = await withContract(await openSharedEngine(false, appends))
      for (const list of commands) {
        const answers = await Promise.all(list.map((command) => outcomeOf(command(together.engine))))
        for (const [index, command] of list.entries()) {
          expect(answers[index]).toEqual(await outcomeOf(command(alone.engine)))
        }
        expect(together.heard).toEqual(alone.heard)
        expect(await together.contents()).toEqual(await alone.contents())
      }
      saved += alone.batches - together.batches
      await Promise.all([together, alone].map(({ engine }) => engine.close()))
    })
    await fc.assert(property, { numRuns: RUNS })
    expect(saved).toBeGreaterThan(0)
  }, 600_000)

  const transfers = (sender: number, count: number, from = 0): Transaction[] =>
    Array.from({ length: count }, (_, i) => transfer(sender, { nonce: BigInt(from + i) }))

  it('share one write while another is under way, in a block each, and one alone is not delayed', async () => {
    const shared = await openSharedEngine(true, appends)
    const { engine } = shared
    const [first, ...others] = transfers(0, 9) as [Transaction, ...Transaction[]]
    const alone = engine.commands.submit(first)
    await Promise.resolve()
    const together = others.map((transaction) => engine.commands.submit(transaction))
    await alone
    expect(engine.queries.head().block.header.number).toBe(1)
    await Promise.all(together)
    expect(shared.batches).toBe(2)
    expect(engine.queries.head().block.header.number).toBe(9)
    expect(engine.queries.head().block.transactions.length).toBe(2)
    await engine.close()
  })

  it('refuse only the one that is invalid', async () => {
    const { engine } = await openSharedEngine(true, appends)
    const [a, b] = transfers(0, 2) as [Transaction, Transaction]
    const results = await Promise.allSettled(
      [a, a, b, transfer(0, { nonce: 0n, value: 5n })].map((each) => engine.commands.submit(each)),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(engine.queries.head().block.header.number).toBe(2)
    await engine.close()
  })

  it('fail with their write, and leave chain, pool, clock and database as they were; later ones are written', async () => {
    let isRefused = false
    const refusal = new NodeError('overloaded', 'the log is full; try again')
    const shared = await openSharedEngine(true, async () => {
      await later()
      if (isRefused) throw refusal
    })
    const { engine, heard, store } = shared
    await engine.commands.submit(transfer(0, {}))
    await engine.commands.setNextBlockTimestamp(1_800_000_000)
    const before = structuredClone({ heard, contents: await shared.contents() })
    isRefused = true
    const waiting = [...transfers(0, 3, 1), transfer(1, { nonce: 4n }), transfer(1, {})]
    const results = await Promise.allSettled(waiting.map((each) => engine.commands.submit(each)))
    expect(results).toEqual(waiting.map(() => ({ status: 'rejected', reason: refusal })))
    expect({ heard, contents: await shared.contents() }).toEqual(before)
    isRefused = false
    await Promise.all(waiting.map((each) => engine.commands.submit(each)))
    expect(engine.queries.head().block.header.number).toBe(5)
    expect(engine.queries.poolSize()).toEqual({ pending: 0, queued: 1 })
    const stored = store.get(PREFIX.pool, transfer(1, { nonce: 4n }).hash, hashKey)
    expect(stored).toBeDefined()
    await engine.close()
  })

  it('show nothing of themselves before they are written', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let begun = () => {}
    const writing = new Promise<void>((resolve) => {
      begun = resolve
    })
    const shared = await openSharedEngine(true, async () => {
      begun()
      await held
    })
    const { engine } = shared
    const admitted: string[] = []
    engine.events.on('admitted', ({ added }) => admitted.push(...added.map(({ hash }) => hash)))
    const before = await shared.contents()
    const sent = transfers(0, 3).map((each) => engine.commands.submit(each))
    await writing
    expect(await shared.contents()).toEqual(before)
    expect(shared.heard.pooled).toEqual([])
    expect(admitted.length).toBe(3)
    release()
    await Promise.all(sent)
    expect(shared.heard.pooled).toEqual(admitted)
    await engine.close()
  })

  it('are not carried out where their callers have gone, and the others are', async () => {
    const { engine } = await openSharedEngine(true, appends)
    const gone = engine.forCall(new Call({ deadline: 0, isGone: () => true }))
    const [a, b] = transfers(0, 2) as [Transaction, Transaction]
    const results = await Promise.allSettled([
      engine.commands.submit(a),
      gone.commands.submit(transfer(1, {})),
      engine.commands.submit(b),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(engine.queries.pendingNonce(SENDERS[1] as Hex)).toBe(0n)
    await engine.close()
  })
})
