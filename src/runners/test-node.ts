/** A node for the tests of one file: each test ends where it began. */
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { MiningMode } from '../engine/model.ts'
import { createNode, type Node } from '../node/node.ts'
import type { SimulatedMessage } from '../node/simulation.ts'
import type { NodeOptions } from '../options/options.ts'
import { type Server, serve } from '../transport/server.ts'
import type { ExpectedChanges } from './change-comparison.ts'
import { type ChangesSubject, expectChanges } from './expected-changes.ts'

/** What a test gets. */
export interface TestTools {
  readonly node: Node
  /** Accounts that the node signs for, with a balance. */
  readonly accounts: readonly Hex[]
  /** Serves the node on a free port of this machine; the same address each time. */
  url(): Promise<string>
  /**
   * Checks what a transaction would change if it were sent, or changed when it was mined; nothing is written. Returns what it
   * does. Throws an `AssertionError` that lists all that differs.
   */
  expectChanges(subject: ChangesSubject, expected: ExpectedChanges): Promise<SimulatedMessage>
}

/** The node of a file and the bounds of its tests. */
export interface TestNode extends TestTools {
  /** Marks where a test begins. Throws while another test runs: tests that run side by side cannot share a chain. */
  begin(): Promise<void>
  /**
   * Back to the mark: chain, state, clock, block overrides, pool, mining mode and impersonated accounts. Throws when the
   * test reverted or reset the chain to before its mark and something had happened until then.
   */
  end(): Promise<void>
  close(): Promise<void>
}

async function setMining({ commands, dev }: Engine, mode: MiningMode): Promise<void> {
  if (dev.miningMode() !== mode) await commands.setMiningMode(mode)
}

/** Returns the function that restores what the engine is now. It takes one snapshot, which copies no state. */
async function markOf(engine: Engine): Promise<() => Promise<void>> {
  const { commands, dev, queries } = engine
  const { hash, postState } = queries.head()
  const mining = dev.miningMode()
  const impersonated = dev.impersonation.save()
  const logging = dev.isLoggingEnabled()
  const instanceId = dev.instanceId()
  const id = await commands.snapshot()
  const isBack = () => queries.head().hash === hash && queries.head().postState === postState

  /** The test reverted to a snapshot of an earlier test, which deleted its own: most begin at the same state. */
  async function revertToEarlier(): Promise<boolean> {
    if (dev.instanceId() !== instanceId) return false
    for (const earlier of dev.snapshots().toReversed()) {
      if (earlier.hash === hash && (await commands.revert(earlier.id)) && isBack()) return true
    }
    return false
  }

  return async () => {
    await setMining(engine, 'manual')
    // A reset numbers snapshots from 1 again: the same id is another snapshot then.
    const isReverted = dev.instanceId() === instanceId && (await commands.revert(id))
    if (!isReverted && !(await revertToEarlier())) await commands.reset()
    await dev.dropAllTransactions()
    dev.impersonation.restore(impersonated)
    dev.setLoggingEnabled(logging)
    await setMining(engine, mining)
    if (!isBack()) {
      throw new Error(
        'The test took the chain to before its own beginning, so later tests miss what was set up: revert to snapshots of the test itself only.',
      )
    }
  }
}

/** Starts the node of a file, in memory unless the options name a directory. */
export async function openTestNode(options: NodeOptions = {}): Promise<TestNode> {
  // `tandem coverage` and `tandem gas` name the folders for the processes of their command.
  const { TANDEM_COVERAGE_DIR, TANDEM_GAS_DIR } = process.env
  const node = await createNode({
    ...options,
    coverageDir: options.coverageDir ?? TANDEM_COVERAGE_DIR,
    gasDir: options.gasDir ?? TANDEM_GAS_DIR,
  })
  let server: Promise<Server> | undefined
  let restore: (() => Promise<void>) | undefined
  return {
    node,
    accounts: node.engine.accounts.list(),
    expectChanges: (subject, expected) => expectChanges(node, subject, expected),
    async url() {
      server ??= serve(node, { port: 0 })
      return (await server).url
    },
    async begin() {
      if (restore !== undefined) {
        throw new Error(
          'Two tests of one file run at the same time on its one chain: run them one after another, or give each a node of its own (createNode).',
        )
      }
      restore = async () => {}
      // Each test meets the same decisions, whichever ran before it.
      await node.dispatcher.chaos?.restart()
      restore = await markOf(node.engine)
    },
    async end() {
      const back = restore
      restore = undefined
      await back?.()
    },
    async close() {
      await (await server)?.close()
      await node.close()
    },
  }
}
