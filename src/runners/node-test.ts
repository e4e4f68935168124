/** `tandem/node-test`: a test function with a node for each file and a clean chain for each test. */
import { after, afterEach, beforeEach, test as nodeTest, type TestContext } from 'node:test'
import type { NodeOptions } from '../options/options.ts'
import { openTestNode, type TestNode, type TestTools } from './test-node.ts'

/** What a test gets: the node of the file, and the context of `node:test`. */
export interface NodeTestTools extends TestTools {
  readonly t: TestContext
}

type Body = (tools: NodeTestTools) => void | Promise<void>

/** The forms of `test` of `node:test`, without callbacks. */
export interface NodeTest {
  (name: string, body: Body): void
  only(name: string, body: Body): void
  skip(name: string, body?: Body): void
  todo(name: string, body?: Body): void
}

/**
 * Makes a test function and registers the hooks of its file; to be called at the top of the file. Every test of the file
 * begins with a clean chain, those of `node:test` itself too.
 */
export function createTest(
  options: NodeOptions = {},
): NodeTest & { readonly tools: () => Promise<TestTools> } {
  let opening: Promise<TestNode> | undefined
  const open = (): Promise<TestNode> => {
    opening ??= openTestNode(options)
    return opening
  }
  beforeEach(async () => (await open()).begin())
  afterEach(async () => (await open()).end())
  after(async () => (await opening)?.close())

  const run = (body: Body) => async (t: TestContext) => {
    const { node, accounts, url, expectChanges } = await open()
    await body({ node, accounts, url, expectChanges, t })
  }
  const define = (name: string, body: Body): void => {
    void nodeTest(name, run(body))
  }
  return Object.assign(define, {
    only: (name: string, body: Body): void => void nodeTest.only(name, run(body)),
    skip: (name: string, body?: Body): void => void nodeTest.skip(name, body && run(body)),
    todo: (name: string, body?: Body): void => void nodeTest.todo(name, body && run(body)),
    /** The node of the file, for hooks. */
    tools: open,
  })
}

/** The test function on a node with default options. */
export const test = createTest()
