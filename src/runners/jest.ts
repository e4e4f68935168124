/**
 * `tandem/jest`: a test environment with a node for each file, as the global `tandem`, and a clean chain for each test.
 * Jest loads environments outside of the sandbox of the tests, so the node runs as it does elsewhere.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Node } from '../node/node.ts'
import type { NodeOptions } from '../options/options.ts'
import type { TestNode, TestTools } from './test-node.ts'

/** The part of `jest-environment-node` that is used. */
interface NodeEnvironment {
  readonly global: typeof globalThis & { tandem?: TestTools }
  setup(): Promise<void>
  teardown(): Promise<void>
}

interface EnvironmentConfig {
  readonly projectConfig: { readonly testEnvironmentOptions?: { readonly tandem?: NodeOptions } }
}

type EnvironmentClass = new (config: EnvironmentConfig, context: unknown) => NodeEnvironment

/** Jest's own environment: beside this package, or where a linked package does not see it, beside Jest or in the project. */
function loadNodeEnvironment(): EnvironmentClass {
  const name = 'jest-environment-node'
  const bases = [import.meta.url, process.argv[1] ?? '.', join(process.cwd(), 'package.json')]
  for (const base of bases) {
    try {
      return (createRequire(base)(name) as { TestEnvironment: EnvironmentClass }).TestEnvironment
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new Error(`tandem/jest needs ${name}: npm install --save-dev ${name}`)
}

/** A value of the node as one of the sandbox, whose `Array` and `Object` differ from the node's. */
function localised<T>(value: T, sandbox: typeof globalThis): T {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if (Array.isArray(value)) return sandbox.Array.from(value, (each) => localised(each, sandbox)) as T
  const members = Object.entries(value).map(([key, each]) => [key, localised(each, sandbox)])
  return sandbox.Object.fromEntries(members)
}

/** The tools, with results as values of the sandbox. */
function inSandbox({ node, accounts, url, expectChanges }: TestNode, sandbox: typeof globalThis): TestTools {
  const local = <T>(value: T): T => localised(value, sandbox)
  const simulate: Node['simulate'] = async (steps, options) => local(await node.simulate(steps, options))
  return {
    node: { ...node, request: async (call) => local(await node.request(call)), simulate },
    accounts: local(accounts),
    url,
    expectChanges: async (subject, expected) => local(await expectChanges(subject, expected)),
  }
}

/** The environment; `testEnvironmentOptions.tandem` of Jest's configuration holds options of the node. */
export class TestEnvironment extends loadNodeEnvironment() {
  readonly #options: NodeOptions
  #opened: TestNode | undefined

  constructor(config: EnvironmentConfig, context: unknown) {
    super(config, context)
    this.#options = config.projectConfig.testEnvironmentOptions?.tandem ?? {}
  }

  override async setup(): Promise<void> {
    await super.setup()
    // Jest 29 loads this module with require, which cannot load the node's modules: some await at their top level.
    const { openTestNode } = await import('./test-node.ts')
    this.#opened = await openTestNode(this.#options)
    this.global.tandem = inSandbox(this.#opened, this.global)
  }

  override async teardown(): Promise<void> {
    await this.#opened?.close()
    await super.teardown()
  }

  /** Called by jest-circus, which waits: `test_start` before the `beforeEach` hooks, `test_done` after the `afterEach`. */
  async handleTestEvent({ name }: { readonly name: string }): Promise<void> {
    if (name === 'test_start') await this.#opened?.begin()
    if (name === 'test_done') await this.#opened?.end()
  }
}

// biome-ignore lint/style/noDefaultExport: where Jest looks for the class
export default TestEnvironment
