/**
 * Random chains give the same root when their state is rebuilt. `npm run test:random-chains` takes 10,000 transactions;
 * RANDOM_CHAIN_SEED gives another chain.
 */
import { expect, it } from 'vitest'
import { growRandomChain, rebuildRoots } from '../support/random-chain.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { RANDOM_CHAIN_TRANSACTIONS = '600', RANDOM_CHAIN_SEED = '7' } = process.env
const transactions = Number(RANDOM_CHAIN_TRANSACTIONS)
const seed = Number(RANDOM_CHAIN_SEED)

it(`a random chain of ${transactions} transactions has the same root when its state and its blocks are rebuilt`, async () => {
  const dataDir = temporaryFolder()
  const grown = await growRandomChain({ dataDir, transactions, seed })
  expect(grown.mined).toBeGreaterThan(transactions / 20)
  expect(Math.min(grown.reorganisations, grown.reverts, grown.restarts)).toBeGreaterThan(0)
  const { header, inserted, executed, entries } = await rebuildRoots(dataDir)
  expect(inserted).toBe(header)
  expect(executed).toBe(header)
  expect(entries).toBeGreaterThan(100)
  if (transactions > 600) console.log(JSON.stringify({ seed, ...grown, root: header, entries }))
})
