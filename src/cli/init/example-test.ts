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

/** A test for Vitest where the project has it, or else for the runner of Node.js. */
function testText(client: 'viem' | 'ethers', isVitest: boolean): string {
  const equal = isVitest
    ? (value: string, expected: string) => `expect(${value}).toBe(${expected})`
    : (value: string, expected: string) => `assert.equal(${value}, ${expected})`
  const runner = isVitest ? 'vitest' : 'node-test'
  const lines = [
    ...(isVitest ? [] : ["import assert from 'node:assert/strict'"]),
    IMPORTS[client],
    `import { test } from 'tandem/${runner}'`,
    ...(isVitest ? [`import { expect } from '${runner}'`] : []),
    '',
    '// Each file has a node of its own, and each test begins with the chain that the hooks of the file have set up.',
    "test('sends coins on a chain of its own', async ({ node }) => {",
    ...STEPS[client](equal).map((line) => `  ${line}`),
    '})',
  ]
  return `${lines.join('\n')}\n`
}

/** The new test, or the one that is there. */
export function addExampleTest({ folder, packages }: Project, client: 'viem' | 'ethers'): Change {
  const folderName = ['test', 'tests'].find((name) => existsSync(join(folder, name))) ?? 'test'
  const file = `${folderName}/tandem.test.mjs`
  const before = textOf(folder, file)
  return { file, before, after: before ?? testText(client, packages.vitest !== undefined) }
}
