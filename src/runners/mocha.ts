/** `tandem/mocha`: hooks that give a file, or a `describe`, a node and each of its tests a clean chain. */
import type { NodeOptions } from '../options/options.ts'
import { openTestNode, type TestNode, type TestTools } from './test-node.ts'

type Hook = (run: () => Promise<void>) => void

/** The hooks of Mocha's interfaces bdd and tdd. */
interface MochaGlobals {
  readonly before?: Hook
  readonly beforeEach?: Hook
  readonly afterEach?: Hook
  readonly after?: Hook
  readonly suiteSetup?: Hook
  readonly setup?: Hook
  readonly teardown?: Hook
  readonly suiteTeardown?: Hook
}

/**
 * Registers the hooks where it is called, which must be before other hooks. The members of the result can be read from
 * the first hook on.
 */
export function useNode(options: NodeOptions = {}): TestTools {
  const globals = globalThis as MochaGlobals
  const before = globals.before ?? globals.suiteSetup
  const beforeEach = globals.beforeEach ?? globals.setup
  const afterEach = globals.afterEach ?? globals.teardown
  const after = globals.after ?? globals.suiteTeardown
  if (!before || !beforeEach || !afterEach || !after) {
    throw new Error(
      'useNode() needs the hooks of Mocha: call it in a file that mocha runs, with the interface bdd or tdd.',
    )
  }
  let opened: TestNode | undefined
  const current = (): TestNode => {
    if (opened === undefined)
      throw new Error('The node starts in a before hook: read it in hooks and tests only.')
    return opened
  }
  before(async () => {
    opened = await openTestNode(options)
  })
  beforeEach(() => current().begin())
  afterEach(() => current().end())
  after(async () => {
    await opened?.close()
    opened = undefined
  })
  return {
    get node() {
      return current().node
    },
    get accounts() {
      return current().accounts
    },
    url: () => current().url(),
    expectChanges: (subject, expected) => current().expectChanges(subject, expected),
  }
}
