import { before } from 'node:test'
import { test } from 'tandem/node-test'
import { checkChanges, checkClean, prepare, spoilAndFail } from './chain-checks.mjs'

before(async () => {
  const { node, accounts } = await test.tools()
  await prepare(node, accounts)
})
test('fails', ({ node, accounts }) => spoilAndFail(node, accounts))
test('is clean after a failure', ({ node, accounts }) => checkClean(node, accounts))
test('is clean after a test', ({ node, accounts }) => checkClean(node, accounts))
test('checks changes', checkChanges)
