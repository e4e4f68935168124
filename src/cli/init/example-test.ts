/** The test that `tandem init` adds to a project of viem or ethers, for the runner that the project has. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Change } from './change.ts'
import { type Project, textOf } from './project.ts'

/** What a test of each client does, by the assertion of the runner. */
const STEPS = {
  viem: (
    equal: (value: string, expected: string) => string,
  ) => `  const { publicClient, walletClients } = createViemClients(node)
  const [sender, recipient] = walletClients
  const hash = await sender.sendTransaction({ to: recipient.account.address, value: 5n })
  const { status } = await publicClient.waitForTransactionReceipt({ hash })
  ${equal('status', "'success'")}`,
  ethers: (
    equal: (value: string, expected: string) => string,
  ) => `  const { signers } = await createEthersClients(node)
  const [sender, recipient] = signers
  const sent = await sender.sendTransaction({ to: recipient.address, value: 5n })
  const receipt = await sent.wait()
  ${equal('receipt.status', '1')}`,
} as const

const IMPORTS = {
  viem: "import { createViemClients } from 'tandem/viem'",
  ethers: "import { createEthersClients } from 'tandem/ethers'",
} as const

/** A test for Vitest where the project has it, or else for the runner of Node.js. */
function testText(client: 'viem' | 'ethers', isVitest: boolean): string {
  const title = "test('sends coins on a chain of its own', async ({ node }) => {"
  if (isVitest) {
    const steps = STEPS[client]((value, expected) => `expect(${value}).toBe(${expected})`)
    return `${IMPORTS[client]}
import { test } from 'tandem/vitest'
import { expect } from 'vitest'

// Each file has a node of its own, and each test begins with the chain that the hooks of the file have set up.
${title}
${steps}
})
`
  }
  const steps = STEPS[client]((value, expected) => `assert.equal(${value}, ${expected})`)
  return `import assert from 'node:assert/strict'
${IMPORTS[client]}
import { test } from 'tandem/node-test'

// Each file has a node of its own, and each test begins with the chain that the hooks of the file have set up.
${title}
${steps}
})
`
}

/** The new test, or the one that is there. */
export function addExampleTest({ folder, packages }: Project, client: 'viem' | 'ethers'): Change {
  const folderName = ['test', 'tests'].find((name) => existsSync(join(folder, name))) ?? 'test'
  const file = `${folderName}/tandem.test.mjs`
  const before = textOf(folder, file)
  return { file, before, after: before ?? testText(client, packages.vitest !== undefined) }
}
