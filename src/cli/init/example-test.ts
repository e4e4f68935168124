/** The test that `tandem init` adds to a project of viem or ethers, for the runner that the project has. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Change } from './change.ts'
import { type Project, textOf } from './project.ts'

type Assertion = (value: string, expected: string) => string

/** What a test of each client does, by the assertion of the runner. */
const STEPS = {
  viem: (equal: Assertion) => [
    'const { publicClient, walletClients } = createViemClients(node)',
    'const [sender, recipient] = walletClients',
    'const hash = await sender.sendTransaction({ to: recipient.account.address, value: 5n })',
    'const { status } = await publicClient.waitForTransactionReceipt({ hash })',
    equal('status', "'success'"),
  ],
  ethers: (equal: Assertion) => [
    'const { signers } = await createEthersClients(node)',
    'const [sender, recipient] = signers',
    'const sent = await sender.sendTransaction({ to: recipient.address, value: 5n })',
    'const receipt = await sent.wait()',
    equal('receipt.status', '1'),
  ],
} as const

const IMPORTS = {
  viem: "import { createViemClients } from 'tandem/viem'",
  ethers: "import { createEthersClients } from 'tandem/ethers'",
} as const

/** The runners that have an integration; a project with none of them has that of Node.js. */
const RUNNERS = ['vitest', 'mocha', 'jest'] as const

type Runner = (typeof RUNNERS)[number] | 'node-test'

/** The runner that a project has. */
function runnerOf({ packages }: Project): Runner {
  return RUNNERS.find((name) => packages[name] !== undefined) ?? 'node-test'
}

const TITLE = 'sends coins on a chain of its own'
const NOTE =
  '// Each file has a node of its own, and each test begins with the chain that the hooks of the file have set up.'

const indented = (lines: readonly string[], depth: number) => lines.map((line) => ' '.repeat(depth) + line)

const asserted: Assertion = (value, expected) => `assert.equal(${value}, ${expected})`
const expected: Assertion = (value, other) => `expect(${value}).toBe(${other})`

/** Jest runs files in a sandbox, where the node is a global: without imports, the test is one of either module system. */
const JEST = [
  '/** @jest-environment tandem/jest */',
  '/* global tandem, test, expect */',
  '',
  NOTE,
  `test('${TITLE}', async () => {`,
  ...indented(
    [
      'const { node, accounts } = tandem',
      'const [from, to] = accounts',
      "const params = [{ from, to, value: '0x5' }]",
      "const hash = await node.request({ method: 'eth_sendTransaction', params })",
      "const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })",
      expected('receipt.status', "'0x1'"),
    ],
    2,
  ),
  '})',
]

function testLines(client: 'viem' | 'ethers', runner: Exclude<Runner, 'jest'>): readonly string[] {
  if (runner === 'mocha') {
    return [
      "import assert from 'node:assert/strict'",
      IMPORTS[client],
      "import { useNode } from 'tandem/mocha'",
      '',
      NOTE,
      "describe('a chain of its own', () => {",
      '  const tandem = useNode()',
      '',
      `  it('${TITLE}', async () => {`,
      ...indented(['const { node } = tandem', ...STEPS[client](asserted)], 4),
      '  })',
      '})',
    ]
  }
  const isVitest = runner === 'vitest'
  return [
    ...(isVitest ? [] : ["import assert from 'node:assert/strict'"]),
    IMPORTS[client],
    `import { test } from 'tandem/${runner}'`,
    ...(isVitest ? [`import { expect } from '${runner}'`] : []),
    '',
    NOTE,
    `test('${TITLE}', async ({ node }) => {`,
    ...indented(STEPS[client](isVitest ? expected : asserted), 2),
    '})',
  ]
}

/** The command of each runner. */
const COMMANDS: Readonly<Record<Runner, string>> = {
  vitest: 'vitest run',
  mocha: 'mocha',
  jest: 'jest',
  'node-test': 'node --test',
}

/** The `test` script of a project that has none. */
export function testScript(project: Project): string {
  return COMMANDS[runnerOf(project)]
}

function exampleFile({ folder }: Project, runner: Runner): string {
  const folderName = ['test', 'tests'].find((name) => existsSync(join(folder, name))) ?? 'test'
  return `${folderName}/tandem.test.${runner === 'jest' ? 'js' : 'mjs'}`
}

/** What runs the example: the project's own script may run something else. */
export function exampleCommand(project: Project): string {
  const runner = runnerOf(project)
  const own = project.scripts.test
  if (own === undefined || own === COMMANDS[runner]) return 'npm test'
  const command = `${COMMANDS[runner]} ${exampleFile(project, runner)}`
  return runner === 'node-test' ? command : `npx ${command}`
}

/** The new test, or the one that is there. */
export function addExampleTest(project: Project, client: 'viem' | 'ethers'): Change {
  const runner = runnerOf(project)
  const file = exampleFile(project, runner)
  const before = textOf(project.folder, file)
  const lines = runner === 'jest' ? JEST : testLines(client, runner)
  return { file, before, after: before ?? `${lines.join('\n')}\n` }
}
