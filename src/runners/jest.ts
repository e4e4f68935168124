/**
 * `tandem/jest`: a test environment with a node for each file, as the global `tandem`, and a clean chain for each test.
 * Jest loads environments outside of the sandbox of the tests, so the node runs as it does elsewhere.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
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

/** Results as values of the sandbox, whose `Array` and `Object` differ from the node's. */
function inSandbox({ node, accounts, url }: TestNode, sandbox: typeof globalThis): TestTools {
  const localise = <T>(value: T): T =>
    value === undefined ? value : sandbox.JSON.parse(JSON.stringify(value))
  return {
    node: { ...node, request: async (call) => localise(await node.request(call)) },
    accounts: localise(accounts),
    url,
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
