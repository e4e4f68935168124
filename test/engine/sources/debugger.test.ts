/** Sessions whose states are not all kept: they are recorded again around the step that is asked for. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { toHex } from '../../../src/encoding/hex.ts'
import type { BlockReference } from '../../../src/engine/model.ts'
import { CodeMaps } from '../../../src/engine/sources/code-maps.ts'
import { SourceDebugger } from '../../../src/engine/sources/debugger.ts'
import { SourceStore } from '../../../src/engine/sources/source-store.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { assemble } from '../../support/assembler.ts'

const LOOP: Hex = `0x${'11'.repeat(20)}`
/** Six instructions a round, from the second on: JUMPDEST, PUSH1, SWAP1, SUB, DUP1, PUSH1 JUMPI. */
const ROUNDS = 3000
const [FIRST_ROUND, OF_A_ROUND] = [1, 7]

let node: Node
beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  const code = toHex(assemble(`PUSH2 ${ROUNDS} JUMPDEST PUSH1 1 SWAP1 SUB DUP1 PUSH1 3 JUMPI STOP`))
  await node.request({ method: 'hardhat_setCode', params: [LOOP, code] })
  await node.request({ method: 'evm_mine' })
})
afterAll(() => node.close())

async function open(reference: BlockReference) {
  const { queries, holdStates } = node.engine
  const maps = new CodeMaps(new SourceStore(createMemoryStore()))
  const opened = await new SourceDebugger({ maps, queries, holdStates, stateBytes: 1 }).open({
    kind: 'call',
    request: { to: LOOP },
    reference,
    options: {},
  })
  if (opened === undefined) throw new Error('no code ran')
  return opened
}

/** The counter on the stack at the start of a round. */
async function counterAt({ session, settle }: Awaited<ReturnType<typeof open>>, round: number) {
  session.goTo(FIRST_ROUND + round * OF_A_ROUND)
  await settle()
  return session.machine(0)?.stack
}

it('are the states of the same steps, in any order', async () => {
  const opened = await open({ tag: 'latest' })
  expect(opened.session.length).toBe(FIRST_ROUND + ROUNDS * OF_A_ROUND + 1)
  for (const round of [0, 2999, 1500, 1]) {
    expect(await counterAt(opened, round), String(round)).toEqual([BigInt(ROUNDS - round)])
  }
  opened.close()
})

it.each([{ tag: 'latest' }, { number: 1 }] as const)(
  'are refused where the state of %j has changed',
  async (reference) => {
    const opened = await open(reference)
    expect(await counterAt(opened, 0)).toEqual([BigInt(ROUNDS)])
    await node.request({ method: 'hardhat_setBalance', params: [LOOP, 'tag' in reference ? '0x1' : '0x2'] })
    await expect(counterAt(opened, ROUNDS - 1)).rejects.toThrow(
      'The states of this step are not kept, and the state that the execution ran on has changed since: open it again',
    )
    opened.close()
  },
)

it('are found after more blocks where the block is named', async () => {
  const opened = await open({ number: 1 })
  await node.request({ method: 'evm_mine' })
  expect(await counterAt(opened, 0)).toEqual([BigInt(ROUNDS)])
  opened.close()
})
