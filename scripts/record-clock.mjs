/**
 * Writes `fixtures/clock/sequences.json`: what Anvil and Hardhat answer to commands of the clock, and the timestamps of
 * the blocks that they mine then, each sequence on a new node. Takes about five minutes.
 *
 * npm ci --prefix scripts/bench; npm ci --prefix scripts/tools; node scripts/record-clock.mjs
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { NODES, versionOf } from './bench/nodes.mjs'
import { start } from './bench/start.mjs'

const NODES_AT_ONCE = 4
const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const quantity = (number) => `0x${number.toString(16)}`

/** Of both tools. Times in seconds, those of `next`, `mineAt` and `time` counted from the start of the sequence. */
const OF_BOTH = {
  'increase, snapshot, revert': 'increase 3600, snapshot, revert, mine, mine',
  'snapshot, increase, revert': 'snapshot, increase 3600, revert, mine, mine',
  'increase, snapshot, mine, revert': 'increase 3600, snapshot, mine, revert, mine, mine',
  'increase, mine, snapshot, revert': 'increase 3600, mine, snapshot, revert, mine, mine',
  'increase, mine, snapshot, mine, revert': 'increase 3600, mine, snapshot, mine, revert, mine, mine',
  'increase, snapshot, increase, revert': 'increase 3600, snapshot, increase 7200, revert, mine, mine',
  'increase, mine, snapshot, increase, mine, revert':
    'increase 3600, mine, snapshot, increase 7200, mine, revert, mine, mine',
  'two snapshots':
    'increase 3600, snapshot, increase 3600, mine, snapshot, increase 3600, mine, revert, mine, revert, mine',
  'transactions and a revert': 'increase 3600, send, snapshot, send, increase 3600, send, revert, send, send',
  'snapshot, set next, revert': 'snapshot, next 5000, revert, mine, mine',
  'snapshot, set next, mine, revert': 'snapshot, next 5000, mine, revert, mine, mine',
  'set next, snapshot, revert': 'next 5000, snapshot, revert, mine, mine',
  'set next, snapshot, mine, revert': 'next 5000, snapshot, mine, revert, mine, mine',
  'increase, snapshot, set next, revert': 'increase 3600, snapshot, next 9000, revert, mine, mine',
  'increase, mine, snapshot, set next, mine, revert':
    'increase 3600, mine, snapshot, next 9000, mine, revert, mine, mine',
  'snapshot, mine at a time, revert': 'snapshot, mineAt 5000, revert, mine, mine',
  'mine at a time, snapshot, mine at a time, revert':
    'mineAt 5000, snapshot, mineAt 9000, revert, mine, mine',
  'a wait before a revert': 'increase 3600, mine, snapshot, wait 30, revert, mine, wait 30, mine',
  'a wait before a revert, with no block': 'increase 3600, snapshot, wait 30, revert, mine, mine',
  'a wait before a revert, with a time set': 'next 5000, snapshot, wait 30, revert, mine, mine',
  'a wait before an increase and a revert':
    'snapshot, wait 30, increase 3600, mine, revert, mine, increase 1000, mine',
  'two increases': 'increase 1000, increase 1000, mine, mine',
  'an increase by nothing': 'increase 0, mine',
  'an increase between blocks': 'increase 1000, mine, increase 1000, mine, mine',
  'set next, increase': 'next 5000, increase 1000, mine, mine',
  'increase, set next': 'increase 1000, next 5000, mine, mine',
  'set next twice': 'next 5000, next 3000, mine, mine',
  'set next, mine, increase': 'next 5000, mine, increase 1000, mine, mine',
  'set next, wait': 'next 5000, wait 30, mine, wait 30, mine',
  'set next, mine at a time': 'next 5000, mineAt 3000, mine, mine',
  'set next below the head': 'mineAt 5000, next 4000, mine',
  'mine at a time, wait': 'mineAt 5000, mine, wait 30, mine',
  'increase, mine at a time, increase': 'increase 1000, mineAt 5000, increase 1000, mine, mine',
  'many blocks, wait': 'mineMany 60 1, wait 30, mine',
  'many blocks, apart': 'mineMany 3 1000, mine',
  'increase, many blocks apart': 'increase 3600, snapshot, mineMany 3 1000, revert, mine',
}

/** Of Anvil: Hardhat has no such commands. */
const OF_ANVIL = {
  interval: 'interval 1000, mine, mine, noInterval, mine',
  'interval, snapshot, no interval, revert':
    'interval 1000, mine, snapshot, noInterval, mine, revert, mine, mine',
  'snapshot, interval, revert': 'snapshot, interval 1000, mine, revert, mine, mine',
  'set time': 'time 5000, mine, mine',
  'set time, snapshot, revert': 'time 5000, snapshot, revert, mine',
  'set time back': 'mineAt 5000, time 1000',
  'increase, set time, increase': 'increase 1000, time 5000, increase 1000, mine',
}

const TOOLS = {
  anvil: { node: 'anvil', sequences: { ...OF_BOTH, ...OF_ANVIL } },
  hardhat: { node: 'hardhat-2', sequences: OF_BOTH },
}

/** The request of a step. `start` is the time of the sequence's start, `id` that of the last snapshot. */
function requestOf([verb, value, more], start, id) {
  const number = Number(value)
  return {
    increase: ['evm_increaseTime', number],
    next: ['evm_setNextBlockTimestamp', start + number],
    time: ['evm_setTime', start + number],
    interval: ['anvil_setBlockTimestampInterval', number],
    noInterval: ['anvil_removeBlockTimestampInterval'],
    snapshot: ['evm_snapshot'],
    revert: ['evm_revert', id],
    mine: ['evm_mine'],
    mineAt: ['evm_mine', start + number],
    mineMany: ['hardhat_mine', quantity(number), quantity(Number(more))],
    send: ['eth_sendTransaction', { from: SENDER, to: SENDER, gas: '0x5208' }],
  }[verb]
}

/** A result with its type; a time counts from the start of the sequence, a total of seconds from what it was then. */
function answerOf(result, start, offset) {
  const number = Number(result)
  return `${typeof result} ${number - (number > 1e9 ? start : offset)}`
}

/** The outcome of each step: the timestamp of its block, an answer, `refused`, or null. */
async function play(client, steps) {
  // Hardhat's clock is behind by the time that it took to start.
  const offset = Number(await client.call('evm_increaseTime', [0]))
  const start = Math.floor(Date.now() / 1000) + offset
  const ids = []
  const outcomes = []
  for (const step of steps) {
    const words = step.split(' ')
    if (words[0] === 'wait') {
      await wait(Number(words[1]) * 1000)
      outcomes.push(null)
      continue
    }
    const [method, ...params] = requestOf(words, start, words[0] === 'revert' ? ids.pop() : undefined)
    try {
      const result = await client.call(method, params)
      if (words[0] === 'snapshot') ids.push(result)
      if (['mine', 'mineAt', 'mineMany', 'send'].includes(words[0])) {
        const { timestamp } = await client.call('eth_getBlockByNumber', ['latest', false])
        outcomes.push(Number(timestamp) - start)
      } else if (['increase', 'next', 'time'].includes(words[0]) && result !== null) {
        outcomes.push(answerOf(result, start, words[0] === 'increase' ? offset : 0))
      } else outcomes.push(null)
    } catch (error) {
      if (words[0] !== 'next') throw error
      outcomes.push('refused')
    }
  }
  return outcomes
}

/** Plays some sequences, one after another. */
async function playEach(node, sequences) {
  const played = []
  for (const [name, text] of sequences) {
    const steps = text.split(', ')
    const { client, stop } = await start(node)
    played.push([name, { steps, outcomes: await play(client, steps) }])
    await stop()
  }
  return played
}

/** Plays sequences on several nodes concurrently, since most of them wait. */
async function record({ node, sequences }) {
  const all = Object.entries(sequences)
  const shares = Array.from({ length: NODES_AT_ONCE }, (_, share) =>
    all.filter((_, index) => index % NODES_AT_ONCE === share),
  )
  const played = await Promise.all(shares.map((share) => playEach(node, share)))
  return { version: `${node} ${versionOf(NODES[node])}`, sequences: Object.fromEntries(played.flat()) }
}

const recorded = {}
for (const [tool, what] of Object.entries(TOOLS)) recorded[tool] = await record(what)
writeFileSync(
  new URL('../fixtures/clock/sequences.json', import.meta.url),
  `${JSON.stringify(recorded, null, 2)}\n`,
)
