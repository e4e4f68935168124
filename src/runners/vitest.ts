/** `tandem/vitest`: a test function with a node for each file and a clean chain for each test. */
import { type TestAPI, test as vitestTest } from 'vitest'
import type { Hex } from '../encoding/hex.ts'
import type { Node } from '../node/node.ts'
import type { NodeOptions } from '../options/options.ts'
import { openTestNode, type TestNode, type TestTools } from './test-node.ts'

/** What tests and hooks destructure from their context. */
export interface Fixtures {
  /** The node of the file. */
  readonly node: Node
  /** Accounts that the node signs for, with a balance. */
  readonly accounts: readonly Hex[]
  /** Where the node is served on this machine; it is served once a test or hook asks. */
  readonly url: string
  /** Checks what a transaction would change if it were sent, or changed when it was mined; nothing is written. */
  readonly expectChanges: TestTools['expectChanges']
}

/** Makes a test function; `test.beforeAll` and `test.beforeEach` get the fixtures as well. */
export function createTest(options: NodeOptions = {}): TestAPI<Fixtures> {
  return vitestTest.extend<Fixtures & { tandem: TestNode; cleanChain: undefined }>({
    tandem: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from the pattern
      async ({}, use) => {
        const opened = await openTestNode(options)
        await use(opened)
        await opened.close()
      },
      { scope: 'file' },
    ],
    node: [({ tandem }, use) => use(tandem.node), { scope: 'file' }],
    accounts: [({ tandem }, use) => use(tandem.accounts), { scope: 'file' }],
    expectChanges: [({ tandem }, use) => use(tandem.expectChanges), { scope: 'file' }],
    url: [async ({ tandem }, use) => use(await tandem.url()), { scope: 'file' }],
    cleanChain: [
      async ({ tandem }, use) => {
        await tandem.begin()
        try {
          await use(undefined)
        } finally {
          await tandem.end()
        }
      },
      { auto: true },
    ],
  })
}

/** The test function on a node with default options. */
export const test = createTest()
