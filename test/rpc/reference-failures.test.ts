/**
 * The `error` of the default tracer against exception and message of the reference node, for every transaction that failed
 * in four of its chains (fixtures/traces/reference-node/failures.json.gz).
 */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { referenceChain } from '../support/reference-chain.ts'
import { referenceChains } from '../support/reference-chains.ts'
import { ask } from '../support/rpc.ts'

const FIXTURE = new URL('../../fixtures/traces/reference-node/failures.json.gz', import.meta.url)
const FAILURES = JSON.parse(gunzipSync(readFileSync(FIXTURE)).toString()) as Readonly<
  Record<string, Readonly<Record<Hex, string>>>
>

/** The length of code that is too long for a contract is not known here (docs/differences.md#traces). */
const TOO_LONG: Readonly<Record<Hex, string>> = {
  '0x632572c626dab6dc878a2034b1da3b55e13ab0367769c413c348d55aad64c3f3':
    'org.ethereum.vm.exception.VMException: code size to deposit exceeds maximum code size, tx[0x632572c626dab6dc878a2034b1da3b55e13ab0367769c413c348d55aad64c3f3]',
}

const OPTIONS = { disableStack: true, disableMemory: true, disableStorage: true }

describe('failures with the messages of the reference node', () => {
  it.each(Object.keys(FAILURES))('%s', async (file) => {
    const [chain] = referenceChains(file)
    const { dispatcher } = await referenceChain(chain?.blocks.map(([raw]) => raw) ?? [])
    const found: Record<string, string> = {}
    const expected: Record<string, string> = {}
    for (const [hash, text] of Object.entries(FAILURES[file] ?? {})) {
      const { result } = await ask(dispatcher, 'debug_traceTransaction', [hash, OPTIONS])
      const { error } = result as { readonly error: string | null }
      // A transaction that runs no code shows no error.
      if (error === null) continue
      found[hash] = error
      expected[hash] = `class ${TOO_LONG[hash as Hex] ?? text}`
    }
    expect(found).toEqual(expected)
    expect(Object.keys(found)).not.toEqual([])
  })
})
