/** Commands of the clock under the presets, against what the tools themselves did (`scripts/record-clock.mjs`). */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import { ask } from '../support/state-files.ts'

type Outcome = number | string | null

interface Recording {
  readonly version: string
  readonly sequences: Record<string, { readonly steps: readonly string[]; readonly outcomes: Outcome[] }>
}

const RECORDED: Record<'anvil' | 'hardhat', Recording> = JSON.parse(
  readFileSync(new URL('../../fixtures/clock/sequences.json', import.meta.url), 'utf8'),
)
const START = 1_900_000_000
/** Seconds that the recorded tool took to answer. */
const SLACK = 6
const ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** The request of a step; times count from the start. */
function requestOf(step: string, id: unknown): [method: string, ...params: unknown[]] {
  const [verb = '', value, interval] = step.split(' ')
  const number = Number(value)
  const requests: Record<string, [string, ...unknown[]]> = {
    increase: ['evm_increaseTime', number],
    next: ['evm_setNextBlockTimestamp', START + number],
    time: ['evm_setTime', START + number],
    interval: ['anvil_setBlockTimestampInterval', number],
    noInterval: ['anvil_removeBlockTimestampInterval'],
    snapshot: ['evm_snapshot'],
    revert: ['evm_revert', id],
    mine: ['evm_mine'],
    mineAt: ['evm_mine', START + number],
    mineMany: ['hardhat_mine', `0x${number.toString(16)}`, `0x${Number(interval).toString(16)}`],
    send: ['eth_sendTransaction', { from: ACCOUNT, to: ACCOUNT, gas: '0x5208' }],
  }
  const request = requests[verb]
  if (request === undefined) throw new Error(`no step "${step}"`)
  return request
}

/** What each step comes to here, in the words of the recording; and what a block may not be earlier than. */
async function play(preset: 'anvil' | 'hardhat', steps: readonly string[]) {
  let now = START
  const node = await createNode({ preset, now: () => now })
  const ids: unknown[] = []
  const outcomes: { readonly outcome: Outcome; readonly least: number }[] = []
  const head = async () =>
    Number((await ask(node, 'eth_getBlockByNumber', 'latest', false)).timestamp) - START
  try {
    for (const step of steps) {
      const [verb = '', value] = step.split(' ')
      const least = (await head()) + (verb === 'mineMany' ? Number(value) : 1)
      let outcome: Outcome = null
      if (verb === 'wait') now += Number(value)
      else {
        const [method, ...params] = requestOf(step, verb === 'revert' ? ids.pop() : undefined)
        const result = await ask(node, method, ...params).catch((error) => {
          if (verb === 'next') return 'refused'
          throw error
        })
        if (verb === 'snapshot') ids.push(result)
        if (['mine', 'mineAt', 'mineMany', 'send'].includes(verb)) outcome = await head()
        else if (result === 'refused') outcome = result
        else if (['increase', 'next', 'time'].includes(verb) && result !== null) {
          outcome = `${typeof result} ${Number(result) > 1e9 ? Number(result) - START : Number(result)}`
        }
      }
      outcomes.push({ outcome, least })
    }
    return outcomes
  } finally {
    await node.close()
  }
}

describe.each(['anvil', 'hardhat'] as const)(
  'the clock of the preset %s behaves like that of the tool',
  (preset) => {
    it.each(Object.entries(RECORDED[preset].sequences))('%s', async (_, { steps, outcomes: recorded }) => {
      const here = await play(preset, steps)
      for (const [index, { outcome, least }] of here.entries()) {
        const there = recorded[index]
        const step = `${index}: ${steps[index]}`
        if (typeof there === 'number') {
          // A block of this chain is later than its parent; those of Anvil may have one time.
          expect(
            Math.abs(Number(outcome) - Math.max(there, least)),
            `${step} at ${outcome}, there ${there}`,
          ).toBeLessThan(SLACK)
        } else if (typeof there === 'string' && there !== 'refused') {
          const [type, value] = there.split(' ')
          const [typeHere, valueHere] = String(outcome).split(' ')
          expect(typeHere, step).toBe(type)
          expect(
            Math.abs(Number(valueHere) - Number(value)),
            `${step}: ${outcome}, there ${there}`,
          ).toBeLessThan(SLACK)
        } else expect(outcome, step).toBe(there)
      }
    })
  },
)
